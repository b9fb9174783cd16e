/* A little work, in shares: with fewer THREADS each start of one has more of it to do. */
#ifndef STARTS_H
#define STARTS_H
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
#endif
