/* A matrix times a vector. VECTOR: four columns at once; LOCAL: the vector is read once. */
#include "rows.h"
#include <omp.h>
#define N 48
static float A[N * N], x[N], y[N];
static void product(float *A, float *x, float *y) {
    #pragma omp target parallel map(to: A[0:N*N], x[0:N]) map(from: y[0:N]) num_threads(4)
    {
#ifdef LOCAL
        float own[N];
        for (int k = 0; k < N; k++)
            own[k] = x[k];
#endif
#ifdef REWRITTEN
        int line = omp_get_thread_num();
        do {
            float total = 0;
            int begin = line * N, column = 0;
            while (column < N) {
                int at = begin + column;
                float left = A[at], right = x[column];
                total = total + left * right;
                column++;
            }
            y[line] = total;
            line += 4;
        } while (line < N);
#else
        for (int i = omp_get_thread_num(); i < N; i += 4) {
            float sum = 0;
#if defined VECTOR
            for (int k = 0; k < N; k += LANES) {
                vec a = *((vec *)&A[i * N + k]), b = *((vec *)&x[k]);
                #pragma unroll LANES
                for (int v = 0; v < LANES; v++)
                    sum += a[v] * b[v];
            }
#elif defined LOCAL
            for (int k = 0; k < N; k++)
                sum += A[i * N + k] * own[k];
#else
            for (int k = 0; k < N; k++)
                sum += A[i * N + k] * x[k];
#endif
            y[i] = sum;
        }
#endif
    }
}
int main(void) {
    fill(A, N * N, 3);
    fill(x, N, 2);
    product(A, x, y);
    show(y, N);
    return 0;
}
