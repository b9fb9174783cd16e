/* The sum of products of two signals. VECTOR: four at once; PRIVATE: one sum a thread. */
#include "rows.h"
#include <omp.h>
#define N 512
static float a[N], b[N], total[1];
static void energy(float *a, float *b, float *total) {
    #pragma omp target parallel map(to: a[0:N], b[0:N]) map(tofrom: total[0:1]) num_threads(4)
    {
#ifdef REWRITTEN
        int from = omp_get_thread_num() * (N / 4), n = 0;
        while (n < N / 4) {
            int at = n + from;
            float both = b[at] * a[at];
            #pragma omp critical
            { float old = *total; *total = old + both; }
            n = n + 1;
        }
#elif defined VECTOR
        #pragma omp for
        for (int i = 0; i < N / LANES; i++) {
            vec p = *((vec *)&a[i * LANES]) * *((vec *)&b[i * LANES]);
            float sum = p[0] + p[1] + p[2] + p[3];
            #pragma omp critical
            total[0] += sum;
        }
#elif defined PRIVATE
        float sum = 0;
        #pragma omp for
        for (int i = 0; i < N; i++)
            sum += a[i] * b[i];
        #pragma omp critical
        total[0] += sum;
#else
        #pragma omp for
        for (int i = 0; i < N; i++) {
            float p = a[i] * b[i];
            #pragma omp critical
            total[0] += p;
        }
#endif
    }
}
int main(void) {
    fill(a, N, 4);
    fill(b, N, 1);
    energy(a, b, total);
    show(total, 1);
    return 0;
}
