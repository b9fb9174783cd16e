/* Ordered loops, also across iterations; locks that nest. */
#include <unistd.h>
#include "show.h"

enum { N = 20 };
int a[N], b[N][N], seen[N], count, total, last;
omp_nest_lock_t lock;

static void add(int n) {
    omp_set_nest_lock(&lock);
    total += n;
    omp_unset_nest_lock(&lock);
}

int main(void) {
    omp_init_nest_lock(&lock);
#pragma omp target parallel map(tofrom: a, b, seen, count, total, last)
    {
#pragma omp for ordered schedule(dynamic, 2) lastprivate(last)
        for (int i = 0; i < N; i++) {
            a[i] = 3 * i;
#pragma omp ordered threads
            {
                seen[count] = i;
                count++;
            }
            usleep(1);
            last = i;
        }
#pragma omp for ordered(2) collapse(2)
        for (int i = 1; i < N; i++)
            for (int j = 1; j < N; j++) {
#pragma omp ordered depend(sink: i - 1, j) depend(sink: i, j - 1)
                b[i][j] = b[i - 1][j] + b[i][j - 1] + i * j;
#pragma omp ordered depend(source)
            }
        omp_set_nest_lock(&lock);
        add(2);
        total++;
        omp_unset_nest_lock(&lock);
    }
    SHOW("%d", a, N);
    SHOW("%d", seen, N);
    SHOW("%d", b[N - 1], N);
    printf("%d %d %d\n", count, total, last);
}
