/* In a region without a team a task has copies of what is mapped, too, but of globals. */
#include <stdio.h>

static int shared = 3;

int main(void) {
  int mapped = 2, numbers[4] = {1, 2, 3, 4}, named = 5;
#pragma omp target map(tofrom : mapped, numbers, named, shared)
  {
    int own = 6, rows[2][2] = {{1, 2}, {3, 4}};
#pragma omp task shared(named)
    {
      mapped += 10;
      numbers[1] += 10;
      own += 10;
      rows[1][0] += 10;
      named += mapped + numbers[1] + own + rows[1][0];
      shared += 10;
    }
#pragma omp taskwait
    numbers[3] = own + rows[1][0];
  }
  printf("%d %d %d %d %d\n", mapped, numbers[1], numbers[3], named, shared);
  return 0;
}
