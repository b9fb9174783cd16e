/* A region of sections, in the directive's own pragma. */
#include "show.h"

enum { N = 20 };
int a[N], b[N], sum = 100, last = -1;

int main(void) {
#pragma omp target parallel map(tofrom: a, b, sum, last)
#pragma omp sections reduction(+: sum) lastprivate(last)
    {
        for (int i = 0; i < N; i++) {
            a[i] = i;
            sum += a[i];
        }
#pragma omp section
        for (int i = 0; i < N; i++)
            b[i] = 2 * i;
#pragma omp section
        {
            last = 7;
            sum += last;
        }
    }
    SHOW("%d", a, N);
    SHOW("%d", b, N);
    printf("%d %d\n", sum, last);
}
