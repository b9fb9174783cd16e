/* Cholesky decomposition. */
#include <math.h>
#ifndef N
#define N 32
#endif
#ifndef REAL
#define REAL double
#endif

void kernel_cholesky(REAL p[N], REAL A[N][N])
{
    REAL x;
    for (int i = 0; i < N; i++) {
        x = A[i][i];
        for (int j = 0; j < i; j++)
            x = x - A[i][j] * A[i][j];
root:
        p[i] = 1.0 / sqrt(x);
        for (int j = i + 1; j < N; j++) {
            x = A[i][j];
            for (int k = 0; k < i; k++)
                x = x - A[j][k] * A[i][k];
            A[j][i] = x * p[i];
        }
    }
}
