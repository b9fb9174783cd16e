#include "show.h"
#define N 12
float A[N][N], x1[N], x2[N], y1[N], y2[N];
int main(void) {
    for (int i = 0; i < N; ++i) {
        x1[i] = i % N / (float)N; x2[i] = (i + 1) % N / (float)N; y1[i] = i + 3; y2[i] = i + 4;
        for (int j = 0; j < N; ++j) A[i][j] = i * j % N / (float)N;
    }
    #pragma omp target parallel map(to: A, y1, y2) map(tofrom: x1, x2)
    {
        #pragma omp for nowait
        for (int i = 0; i < N; ++i) for (int j = 0; j < N; ++j) x1[i] = x1[i] + A[i][j] * y1[j];
        #pragma omp for
        for (int i = 0; i < N; ++i) for (int j = 0; j < N; ++j) x2[i] = x2[i] + A[j][i] * y2[j];
    }
    SHOW("%.9g", x1, N); SHOW("%.9g", x2, N);
}
