#include "show.h"
#define N 18
double a[N][N], b[N][N];
int main(void) {
    for (int i = 0; i < N * N; ++i) a[i / N][i % N] = i % 11;
    #pragma omp target parallel map(tofrom: a, b)
    for (int t = 0; t < 2; ++t) {
        #pragma omp for
        for (int i = 1; i < N - 1; ++i)
            for (int j = 1; j < N - 1; ++j)
                b[i][j] = 0.2 * (a[i][j] + a[i][j - 1] + a[i][j + 1] + a[i + 1][j] + a[i - 1][j]);
        #pragma omp for
        for (int i = 1; i < N - 1; ++i)
            for (int j = 1; j < N - 1; ++j)
                a[i][j] = 0.2 * (b[i][j] + b[i][j - 1] + b[i][j + 1] + b[i + 1][j] + b[i - 1][j]);
    }
    SHOW("%.17g", &a[0][0], N * N);
}
