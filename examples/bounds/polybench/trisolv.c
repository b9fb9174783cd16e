/* Lower triangular system. */
#ifndef N
#define N 32
#endif
#ifndef REAL
#define REAL double
#endif

void kernel_trisolv(REAL A[N][N], REAL x[N], REAL c[N])
{
    for (int i = 0; i < N; i++) {
        x[i] = c[i];
        for (int j = 0; j < i; j++)
            x[i] = x[i] - A[i][j] * x[j];
        x[i] = x[i] / A[i][i];
    }
}
