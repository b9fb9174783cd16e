/* A little work, in shares: with fewer THREADS each start of one has more of it to do. */
#if KIND == 1
#define N 64
#define WORK(i) ((i) * (i))
#elif KIND == 2
#define N 128
#define WORK(i) (((i) ^ (i) >> 3) & 31)
#elif KIND == 3
#define N 32
#define WORK(i) ((i) * 21 % 16)
#else
#define N 96
#define WORK(i) (0 * (i))
#endif
#include <stdio.h>
#include <omp.h>
#ifndef THREADS
#define THREADS 8
#endif
static int out[N];
static void start(int *y) {
    #pragma omp target parallel map(from: y[0:N]) num_threads(THREADS)
    {
#ifdef REWRITTEN
        int each = N / THREADS, which = omp_get_thread_num() * each, end = which + each;
        while (which < end) {
            int value = WORK(which);
            y[which] = value;
            which++;
        }
#else
        #pragma omp for
        for (int i = 0; i < N; i++)
            y[i] = WORK(i);
#endif
    }
}
int main(void) {
    start(out);
    int sum = 0;
    for (int i = 0; i < N; i++)
        sum += out[i];
    printf("%d\n", sum);
    return 0;
}
