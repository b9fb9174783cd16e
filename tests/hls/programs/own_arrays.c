/* A region without a team writes into its own copies of arrays: the host's stay as they are. */
#include <stdio.h>

static void doubled(int *numbers, int count) {
  for (int i = 0; i < count; i++)
    numbers[i] *= 2;
}

int main(void) {
  int out[3] = {0}, given[4] = {9, 8, 7, 6}, passed[2] = {3, 4}, mine[3] = {1, 1, 1}, read[2] = {5, 6};
#pragma omp target map(tofrom : out) firstprivate(given, passed, read) private(mine)
  {
    mine[0] = read[1];
    given[2] += mine[0];
    doubled(passed, 2);
    out[0] = given[2] + given[0];
    out[1] = passed[0] + passed[1];
    out[2] = read[0];
  }
  printf("%d %d %d %d %d %d %d\n", out[0], out[1], out[2], given[2], passed[1], mine[0], read[1]);
  return 0;
}
