/* Covariance of the columns of a matrix. */
#ifndef N
#define N 32
#endif
#ifndef M
#define M 32
#endif
#ifndef REAL
#define REAL double
#endif

void kernel_covariance(REAL float_n, REAL data[N][M], REAL symmat[M][M], REAL mean[M])
{
    for (int j = 0; j < M; j++) {
        mean[j] = 0.0;
        for (int i = 0; i < N; i++)
            mean[j] += data[i][j];
        mean[j] /= float_n;
    }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++)
            data[i][j] -= mean[j];
    for (int j1 = 0; j1 < M; j1++)
        for (int j2 = j1; j2 < M; j2++) {
            symmat[j1][j2] = 0.0;
            for (int i = 0; i < N; i++)
                symmat[j1][j2] += data[i][j1] * data[i][j2];
            symmat[j2][j1] = symmat[j1][j2];
        }
}
