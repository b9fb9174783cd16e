/* Loops that a league distributes, inside its region. */
#include "show.h"

enum { N = 40 };
int a[N], b[N], sum = 7;

int main(void) {
#pragma omp target teams num_teams(4) map(tofrom: a, b, sum)
    {
        int scale = 3;
#pragma omp distribute
        for (int i = 0; i < N; i++)
            a[i] = scale * i;
#pragma omp distribute parallel for reduction(+: sum) num_threads(2)
        for (int i = N - 1; i >= 0; i -= 2) {
            b[i] = i - scale;
            sum += i;
        }
#pragma omp distribute simd collapse(2) dist_schedule(static, 3)
        for (int i = 0; i < N / 8; i++)
            for (int j = 0; j < 4; j++)
                b[8 * i + 2 * j] = i - j;
    }
    SHOW("%d", a, N);
    SHOW("%d", b, N);
    printf("%d\n", sum);
}
