#include "show.h"
#define N 10
double A[N][N], B[N][N], x[N], y[N];
int main(void) {
    double alpha = 1.5, beta = 1.2;
    for (int i = 0; i < N; ++i) {
        x[i] = i % N / (double)N;
        for (int j = 0; j < N; ++j) { A[i][j] = (i * j + 1) % N / (double)N; B[i][j] = (i * j + 2) % N / (double)N; }
    }
    #pragma omp target parallel for map(to: A, B, x) map(from: y)
    for (int i = 0; i < N; ++i) {
        double s = 0, t = 0;
        for (int j = 0; j < N; ++j) { s = A[i][j] * x[j] + s; t = B[i][j] * x[j] + t; }
        y[i] = alpha * s + beta * t;
    }
    SHOW("%.17g", y, N);
}
