/* `defaultmap(firstprivate)`: a region has its own copy of all that no clause names. */
#include <stdio.h>

struct both {
  int one, more[4];
};

int main(void) {
  int scalar = 1, numbers[6] = {1, 2, 3, 4, 5, 6}, out[3] = {0};
  struct both both = {7, {1, 2, 3, 4}};
#pragma omp target defaultmap(firstprivate) map(tofrom : out)
  {
    int *at = &numbers[1];
    scalar += 16;
    numbers[0] = 50;
    at[3] = 51;
    both.one++;
    both.more[2] = scalar;
    out[0] = scalar + numbers[0] + numbers[4];
    out[1] = both.one + both.more[2] + both.more[3];
    out[2] = numbers[5];
  }
  printf("%d %d %d %d %d %d %d %d\n", out[0], out[1], out[2], scalar, numbers[0], numbers[4], both.one, both.more[2]);
  return 0;
}
