/* LU decomposition and the solution of a system. */
#ifndef N
#define N 32
#endif
#ifndef REAL
#define REAL double
#endif

void kernel_ludcmp(REAL A[N + 1][N + 1], REAL b[N + 1], REAL x[N + 1], REAL y[N + 1])
{
    REAL w;
    b[0] = 1.0;
    for (int i = 0; i < N; i++) {
        for (int j = i + 1; j <= N; j++) {
            w = A[j][i];
            for (int k = 0; k < i; k++)
                w = w - A[j][k] * A[k][i];
            A[j][i] = w / A[i][i];
        }
        for (int j = i + 1; j <= N; j++) {
            w = A[i + 1][j];
            for (int k = 0; k <= i; k++)
                w = w - A[i + 1][k] * A[k][j];
            A[i + 1][j] = w;
        }
    }
    y[0] = b[0];
    for (int i = 1; i <= N; i++) {
        w = b[i];
        for (int j = 0; j < i; j++)
            w = w - A[i][j] * y[j];
        y[i] = w;
    }
    x[N] = y[N] / A[N][N];
    for (int i = N - 1; i >= 0; i--) {
        w = y[i];
        for (int j = i + 1; j <= N; j++)
            w = w - A[i][j] * x[j];
        x[i] = w / A[i][i];
    }
}
