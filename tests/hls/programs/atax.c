#include "show.h"
#define M 9
#define N 11
double A[M][N], x[N], y[N], tmp[M];
int main(void) {
    for (int i = 0; i < N; ++i) x[i] = 1 + i / (double)N;
    for (int i = 0; i < M; ++i) for (int j = 0; j < N; ++j) A[i][j] = (i + j) % N / (5.0 * M);
    #pragma omp target parallel map(to: A, x) map(tofrom: y, tmp)
    {
        #pragma omp for
        for (int i = 0; i < M; ++i) {
            double sum = 0;
            for (int j = 0; j < N; ++j) sum += A[i][j] * x[j];
            tmp[i] = sum;
        }
        #pragma omp for
        for (int j = 0; j < N; ++j) {
            double sum = 0;
            for (int i = 0; i < M; ++i) sum += A[i][j] * tmp[i];
            y[j] = sum;
        }
    }
    SHOW("%.17g", y, N);
}
