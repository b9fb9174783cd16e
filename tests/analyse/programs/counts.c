/* Products that are counted by their last digit. PRIVATE: each thread counts by itself. */
#include <stdio.h>
#include <omp.h>
#define N 384
#define DIGITS 10
static int a[N], b[N], count[DIGITS];
static void counts(int *a, int *b, int *count) {
    #pragma omp target parallel map(to: a[0:N], b[0:N]) map(tofrom: count[0:DIGITS]) num_threads(8)
    {
#ifdef PRIVATE
        int own[DIGITS];
        for (int d = 0; d < DIGITS; d++)
            own[d] = 0;
        #pragma omp for
        for (int i = 0; i < N; i++)
            own[a[i] * b[i] % DIGITS]++;
        #pragma omp critical
        for (int d = 0; d < DIGITS; d++)
            count[d] += own[d];
#elif defined REWRITTEN
        int at = omp_get_thread_num() * (N / 8), left = N / 8;
        while (left > 0) {
            int digit = b[at] * a[at] % DIGITS;
            #pragma omp critical
            { int before = count[digit]; count[digit] = 1 + before; }
            at++;
            left--;
        }
#else
        #pragma omp for
        for (int i = 0; i < N; i++) {
            int digit = a[i] * b[i] % DIGITS;
            #pragma omp critical
            count[digit] += 1;
        }
#endif
    }
}
int main(void) {
    for (int i = 0; i < N; i++) {
        a[i] = i * 7 % 23;
        b[i] = i * 5 % 19;
    }
    counts(a, b, count);
    for (int d = 0; d < DIGITS; d++)
        printf("%d ", count[d]);
    printf("\n");
    return 0;
}
