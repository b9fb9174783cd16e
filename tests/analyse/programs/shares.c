/* Rounds of unequal length that threads share: LENGTH(i) steps in round i of N, four threads.
   CYCLIC: each thread gets short ones and long ones. */
#if KIND == 1 /* longer and longer */
#define N 64
#define LENGTH(i) (i)
#elif KIND == 2 /* the first are the longest */
#define N 48
#define LENGTH(i) (8 * (N - (i)))
#elif KIND == 3 /* the last quarter has most of the work */
#define N 64
#define LENGTH(i) ((i) >= 48 ? 160 : 20)
#else
#define N 32
#define LENGTH(i) ((i) * (i))
#endif
#include <stdio.h>
#include <omp.h>
static int a[N], r[N];
static void shares(int *a, int *r) {
    #pragma omp target parallel map(to: a[0:N]) map(from: r[0:N]) num_threads(4)
    {
#if defined REWRITTEN
        int round = omp_get_thread_num() * (N / 4), stop = round + N / 4;
        while (round < stop) {
            unsigned seed = a[round];
            int left = LENGTH(round);
            while (left > 0) {
                unsigned more = seed * 5;
                seed = more + (seed >> 3);
                left--;
            }
            r[round] = seed;
            round++;
        }
#else
#ifdef CYCLIC
        #pragma omp for schedule(static, 1)
#else
        #pragma omp for schedule(static)
#endif
        for (int i = 0; i < N; i++) {
            unsigned s = a[i];
            for (int j = 0; j < LENGTH(i); j++)
                s = s * 5 + (s >> 3);
            r[i] = s;
        }
#endif
    }
}
int main(void) {
    for (int i = 0; i < N; i++)
        a[i] = i % 7;
    shares(a, r);
    printf("%d %d\n", r[3], r[N - 2]);
    return 0;
}
