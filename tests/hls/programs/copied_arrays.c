/* `copyprivate` gives all threads the arrays and structs of the one that executed the block. */
#include <omp.h>
#include <stdio.h>

struct mark {
  int place;
  short rows[2][3];
};

int main(void) {
  int found[8] = {0}, threads = 1;
#pragma omp target parallel map(tofrom : found, threads)
  {
    int me = omp_get_thread_num(), numbers[5] = {me, me, me, me, me};
    struct mark mark = {me, {{0}}};
#pragma omp single copyprivate(numbers, mark)
    {
      for (int i = 1; i < 5; i++)
        numbers[i] = 10 * i;
      numbers[0] = 3;
      mark.place = 7;
      mark.rows[1][2] = 9;
      threads = omp_get_num_threads();
    }
    numbers[me & 3] += me;
    int sum = mark.place + mark.rows[1][2];
    for (int i = 0; i < 5; i++)
      sum += (i + 1) * numbers[i];
    found[me] = sum;
  }
  int sum = 0;
  for (int i = 0; i < threads; i++)
    sum += found[i];
  printf("%d %d\n", found[0], sum);
  return 0;
}
