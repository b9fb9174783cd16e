/* A task has its own copies of what its team doesn't share, arrays and structs too. */
#include <stdio.h>

struct pair {
  int left, right[2];
};

static int twice(int *numbers) {
  numbers[0] *= 2;
  return numbers[0];
}

int main(void) {
  int from_task[8][4] = {{0}}, after[8][5] = {{0}};
#pragma omp target parallel map(tofrom : from_task, after)
  {
    int me = 0, numbers[3] = {4, 5, 6}, named[2] = {1, 2}, read[2] = {30, 40};
    struct pair pair = {1, {2, 3}};
#pragma omp critical
    {
      after[7][4]++;
      me = (after[7][4] - 1) % 8;
    }
#pragma omp task shared(named)
    {
      numbers[1] += read[0];
      pair.right[1] += 10;
      named[1] += 7;
      from_task[me][0] = numbers[1] + pair.right[1];
#pragma omp task
      {
        numbers[1]++;
        from_task[me][1] = twice(numbers) + numbers[1];
      }
#pragma omp taskwait
      from_task[me][2] = numbers[0] + numbers[1];
    }
#pragma omp taskwait
    after[me][0] = numbers[0];
    after[me][1] = numbers[1];
    after[me][2] = pair.right[1];
    after[me][3] = named[1];
  }
  int sum = 0;
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 4; j++)
      sum += from_task[i][j] * (j + 1) + after[i][j] * (j + 5);
  printf("%d %d\n", sum, after[7][4]);
  return 0;
}
