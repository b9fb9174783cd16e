/* LU decomposition. */
#ifndef N
#define N 32
#endif
#ifndef REAL
#define REAL double
#endif

void kernel_lu(REAL A[N][N])
{
    for (int k = 0; k < N; k++) {
        for (int j = k + 1; j < N; j++)
            A[k][j] = A[k][j] / A[k][k];
        for (int i = k + 1; i < N; i++)
            for (int j = k + 1; j < N; j++)
                A[i][j] = A[i][j] - A[i][k] * A[k][j];
    }
}
