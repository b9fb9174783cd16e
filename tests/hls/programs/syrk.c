#include "show.h"
#define N 8
#define M 6
float C[N][N], A[N][M];
int main(void) {
    float alpha = 1.5f, beta = 1.2f;
    for (int i = 0; i < N; ++i) {
        for (int j = 0; j < M; ++j) A[i][j] = (i * j + 1) % N / (float)N;
        for (int j = 0; j < N; ++j) C[i][j] = (i * j + 2) % M / (float)M;
    }
    #pragma omp target parallel for map(to: A) map(tofrom: C)
    for (int i = 0; i < N; ++i) {
        for (int j = 0; j <= i; ++j) C[i][j] *= beta;
        for (int k = 0; k < M; ++k)
            for (int j = 0; j <= i; ++j) C[i][j] += alpha * A[i][k] * A[j][k];
    }
    SHOW("%.9g", &C[0][0], N * N);
}
