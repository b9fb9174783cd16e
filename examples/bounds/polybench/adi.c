/* Alternating direction implicit solver. */
#ifndef T
#define T 2
#endif
#ifndef N
#define N 32
#endif
#ifndef REAL
#define REAL double
#endif

void kernel_adi(REAL X[N][N], REAL A[N][N], REAL B[N][N])
{
    for (int t = 0; t < T; t++) {
        /* Sweep along rows: eliminate, scale the last column, substitute back. */
        for (int i = 0; i < N; i++)
            for (int j = 1; j < N; j++) {
                X[i][j] = X[i][j] - X[i][j - 1] * A[i][j] / B[i][j - 1];
                B[i][j] = B[i][j] - A[i][j] * A[i][j] / B[i][j - 1];
            }
        for (int i = 0; i < N; i++)
            X[i][N - 1] = X[i][N - 1] / B[i][N - 1];
        for (int i = 0; i < N; i++)
            for (int j = N - 2; j >= 1; j--)
                X[i][j] = (X[i][j] - X[i][j - 1] * A[i][j - 1]) / B[i][j - 1];
        /* The same along columns. */
        for (int i = 1; i < N; i++)
            for (int j = 0; j < N; j++) {
                X[i][j] = X[i][j] - X[i - 1][j] * A[i][j] / B[i - 1][j];
                B[i][j] = B[i][j] - A[i][j] * A[i][j] / B[i - 1][j];
            }
        for (int j = 0; j < N; j++)
            X[N - 1][j] = X[N - 1][j] / B[N - 1][j];
        for (int i = N - 2; i >= 1; i--)
            for (int j = 0; j < N; j++)
                X[i][j] = (X[i][j] - X[i - 1][j] * A[i - 1][j]) / B[i][j];
    }
}
