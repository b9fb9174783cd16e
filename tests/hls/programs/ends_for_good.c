/* Conditions that would hold again an iteration or two after the last: a loop ends only once. */
#include <stdio.h>

#define TEAM 3

extern int omp_get_thread_num(void);
int r[16 * 8]; /* of up to eight threads */

int main(int argc, char **argv) {
  unsigned step = (unsigned)argc;
  (void)argv;
#pragma omp target parallel num_threads(TEAM) map(tofrom: r)
  {
    int me = omp_get_thread_num();
    int *mine = r + 16 * me;
    unsigned sum = 0, last = 0, odd = 1;
    for (int round = 0; round < 4; round++) {
      for (unsigned x = 1 + me; x & 3; x += step) sum += x;
      for (unsigned x = 3 * round; x != 17 + me; x += step) sum ^= x;
      for (unsigned x = 4 * round + 1; (x & 7) != 6; x += step) last = x;
      unsigned kept = me;
      while (kept & 1) kept += step; /* read afterwards */
      for (unsigned x = 5, y = round; x & 5; x += 3 * step) y = y * 3 + x, sum += y;
      for (unsigned x = odd; x & 1; x = ~x) odd += 2; /* once; then it would go on for ever */
      mine[round] = (int)(sum + last);
      mine[4 + round] = (int)kept;
      mine[8 + round] = (int)odd;
    }
  }
  for (int i = 0; i < 16 * TEAM; i++) printf("%d ", r[i]);
  printf("\n");
  return 0;
}
