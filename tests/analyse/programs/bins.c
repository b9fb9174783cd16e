/* How often each value occurs. PRIVATE: each thread counts by itself. */
#include <stdio.h>
#include <omp.h>
#define N 512
#define BINS 8
static int in[N], count[BINS];
static void bins(int *in, int *count) {
    #pragma omp target parallel map(to: in[0:N]) map(tofrom: count[0:BINS]) num_threads(4)
    {
#ifdef PRIVATE
        int own[BINS];
        for (int b = 0; b < BINS; b++)
            own[b] = 0;
        #pragma omp for
        for (int i = 0; i < N; i++)
            own[in[i]]++;
        #pragma omp critical
        for (int b = 0; b < BINS; b++)
            count[b] += own[b];
#elif defined REWRITTEN
        int at = omp_get_thread_num() * (N / 4), rest = N / 4;
        while (rest > 0) {
            #pragma omp critical
            { int value = in[at]; int before = count[value]; count[value] = before + 1; }
            at++;
            rest--;
        }
#else
        #pragma omp for
        for (int i = 0; i < N; i++) {
            #pragma omp critical
            count[in[i]] += 1;
        }
#endif
    }
}
int main(void) {
    for (int i = 0; i < N; i++)
        in[i] = i * 37 % BINS;
    bins(in, count);
    for (int b = 0; b < BINS; b++)
        printf("%d ", count[b]);
    printf("\n");
    return 0;
}
