/* Five-point stencil. */
#ifndef T
#define T 2
#endif
#ifndef N
#define N 32
#endif
#ifndef REAL
#define REAL double
#endif

void kernel_jacobi_2d(REAL A[N][N], REAL B[N][N])
{
    for (int t = 0; t < T; t++) {
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++)
                B[i][j] = 0.2 * (A[i][j] + A[i][j - 1] + A[i][j + 1] + A[i + 1][j] + A[i - 1][j]);
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++)
                A[i][j] = B[i][j];
    }
}
