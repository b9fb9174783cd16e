/* Correlation of the columns of a matrix. */
#include <math.h>
#ifndef N
#define N 32
#endif
#ifndef M
#define M 32
#endif
#ifndef REAL
#define REAL double
#endif

void kernel_correlation(REAL float_n, REAL eps, REAL data[N][M], REAL symmat[M][M], REAL mean[M], REAL stddev[M])
{
    for (int j = 0; j < M; j++) {
        mean[j] = 0.0;
        for (int i = 0; i < N; i++)
            mean[j] += data[i][j];
        mean[j] /= float_n;
    }
    for (int j = 0; j < M; j++) {
        stddev[j] = 0.0;
        for (int i = 0; i < N; i++)
            stddev[j] += (data[i][j] - mean[j]) * (data[i][j] - mean[j]);
        stddev[j] /= float_n;
        stddev[j] = sqrt(stddev[j]);
        /* A column that hardly varies would cause a division by next to nothing. */
        stddev[j] = stddev[j] <= eps ? 1.0 : stddev[j];
    }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++) {
            data[i][j] -= mean[j];
            data[i][j] /= sqrt(float_n) * stddev[j];
        }
    for (int j1 = 0; j1 < M - 1; j1++) {
        symmat[j1][j1] = 1.0;
        for (int j2 = j1 + 1; j2 < M; j2++) {
            symmat[j1][j2] = 0.0;
            for (int i = 0; i < N; i++)
                symmat[j1][j2] += data[i][j1] * data[i][j2];
            symmat[j2][j1] = symmat[j1][j2];
        }
    }
    symmat[M - 1][M - 1] = 1.0;
}
