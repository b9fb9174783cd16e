/* Two matrix-vector products. */
#ifndef N
#define N 32
#endif
#ifndef REAL
#define REAL double
#endif

void kernel_mvt(REAL x1[N], REAL x2[N], REAL y1[N], REAL y2[N], REAL A[N][N])
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            x1[i] = x1[i] + A[i][j] * y1[j];
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            x2[i] = x2[i] + A[j][i] * y2[j];
}
