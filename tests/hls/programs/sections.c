/* Sections: with and without their first directive, more than threads, with all their clauses. */
#include "show.h"

enum { N = 24 };
int a[N], b[N], c[N], order[8], seed = 5, last = -1;
long total;
double scale = 0.5, x[N];

static void both(int *to, int from) {
#pragma omp sections nowait
    {
        for (int i = 0; i < N; i += 2)
            to[i] += from + i;
#pragma omp section
        for (int i = 1; i < N; i += 2)
            to[i] += from * i;
    }
}

int main(void) {
#pragma omp target parallel map(tofrom: a, b, c, order, total, last, x)
    {
        int t = 3;
#pragma omp sections
        {
#pragma omp section
            for (int i = 0; i < N; i++)
                a[i] = i * i;
#pragma omp section
            {
                for (int i = 0; i < N; i++) {
                    if (i == 3)
                        continue;
                    if (i > 20)
                        break;
                    b[i] = 3 * i;
                }
            }
#pragma omp section
            c[0] = t, c[1] = seed;
        }
#pragma omp sections private(t) firstprivate(seed) lastprivate(last) reduction(+: total)
        {
            t = seed;
            total += a[5] + seed * t;
            last = 1;
#pragma omp section
#pragma omp critical
            order[0]++;
#pragma omp section
            total -= b[6];
            order[1] = 7;
            last = 2;
#pragma omp section
            {
                t = 1 + seed;
                total += 1000 * t;
                last = seed + t;
            }
        }
        for (int round = 0; round < 3; round++) {
            both(c, round);
#pragma omp barrier
        }
#pragma omp sections
        {
            for (int i = 0; i < N; i++)
                x[i] = scale * a[i];
        }
    }
    SHOW("%d", a, N);
    SHOW("%d", b, N);
    SHOW("%d", c, N);
    SHOW("%d", order, 8);
    SHOW("%g", x, N);
    printf("%ld %d %d\n", total, last, seed);
}
