/* Loops to `<=`: their last iteration counts, for what is copied, and for who waits for them. */
#include <stdio.h>

#define TEAM 2

extern int omp_get_thread_num(void);
int a[256], b[256], c[16];

int main(int argc, char **argv) {
  int n = 15 + argc - 1;
  (void)argv;
  for (int i = 0; i < 256; i++) a[i] = 3 * i + 1, b[i] = 0;
#pragma omp target parallel num_threads(TEAM) map(tofrom: a, b, c)
  {
    int me = omp_get_thread_num(), base = 32 * me, x[16], y[17];
    for (int i = 0; i <= 15; i++) x[i] = a[base + i]; /* a copy */
    for (int i = 0; i <= n; i++) y[i] = a[base + i];
    int last = x[15] + y[15];
    for (int i = 0; i <= 7; i++) b[base + i] = last + i;
    int seen = b[base + 7]; /* of the last iteration */
    for (int i = 8; i <= 22; i += 7) b[base + i] = seen + i;
    seen += b[base + 22];
    for (int i = 23; i <= 29; i += 2) a[base + i] = seen + i;
    a[base + 29] += 5;
    for (int i = 4; i >= 0; i--) y[i] = seen - i;
    c[me] = y[0] + y[4] + a[base + 29];
  }
  for (int i = 0; i < 256; i++) printf("%d %d\n", a[i], b[i]);
  printf("%d %d\n", c[0], c[1]);
  return 0;
}
