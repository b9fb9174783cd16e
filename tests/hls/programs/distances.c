/* Values that come back 2 to 7 iterations later, through an array of the thread's own: an
   iteration must not begin earlier than its share of the way from the store to the load. */
#include <stdio.h>

#define TEAM 2
#define N 40

#define SUMS(d)                                                                                   \
  for (int i = 0; i < d; i++) x[i] = me + i * 0.5f;                                               \
  for (int i = d; i < N; i++) x[i] = x[i - d] + 0.25f;                                            \
  for (int i = 0; i < N; i++) out[(8 * d + me) * N + i] = x[i];

#define PRODUCTS(d)                                                                               \
  for (int i = 0; i < d; i++) y[i] = 1 + me + i * 0.5f;                                           \
  for (int i = d; i < N; i++) y[i] = y[i - d] * 0.75f + 0.5f;                                     \
  for (int i = 0; i < N; i++) more[(8 * d + me) * N + i] = y[i];

extern int omp_get_thread_num(void);
float out[64 * N], more[64 * N];

int main(void) {
#pragma omp target parallel num_threads(TEAM) map(tofrom: out, more)
  {
    int me = omp_get_thread_num();
    float x[N], y[N];
    SUMS(2)
    SUMS(3)
    SUMS(4)
    SUMS(5)
    SUMS(6)
    SUMS(7)
    PRODUCTS(2)
    PRODUCTS(3)
    PRODUCTS(4)
    PRODUCTS(5)
    PRODUCTS(6)
    PRODUCTS(7)
  }
  double total = 0;
  for (int i = 0; i < 64 * N; i++) total = total * 0.5 + out[i] + 3 * more[i];
  printf("%.9g\n", total);
  return 0;
}
