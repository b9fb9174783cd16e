/* Chunks behind whose last one a loop's variable would be beyond its type. */
#include "show.h"
#include <limits.h>

enum { N = 40 };
int up[N], up_by[N];
unsigned down[N], high[N], down_to = 2, first = N;
long far[N];

int main(void) {
#pragma omp target parallel map(tofrom: up, up_by, down, high, far)
    {
#pragma omp for schedule(static, 4)
        for (int i = INT_MAX - N; i < INT_MAX; i++)
            up[i - (INT_MAX - N)] += i;
#pragma omp for schedule(static, 3)
        for (unsigned i = N; i > 0; i--)
            down[i - 1] += i;
#pragma omp for schedule(static, 2)
        for (unsigned i = first - 2; i >= down_to; i -= 2)
            down[i] += 1000 * i;
#pragma omp for schedule(static, 5) nowait
        for (unsigned i = UINT_MAX - N; i != UINT_MAX; i++)
            high[i - (UINT_MAX - N)] += i;
#pragma omp for schedule(static, 100000000)
        for (int i = 0; i < N; i += 2)
            up_by[i] += i;
#pragma omp for schedule(dynamic, 1000000000000)
        for (long i = LONG_MAX; i > LONG_MAX - N; i--)
            far[LONG_MAX - i] += i;
    }
    SHOW("%d", up, N);
    SHOW("%u", down, N);
    SHOW("%u", high, N);
    SHOW("%d", up_by, N);
    SHOW("%ld", far, N);
}
