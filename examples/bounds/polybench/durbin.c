/* Toeplitz system solver. */
#ifndef N
#define N 32
#endif
#ifndef REAL
#define REAL double
#endif

void kernel_durbin(REAL y[N][N], REAL sum[N][N], REAL alpha[N], REAL beta[N], REAL r[N], REAL out[N])
{
    y[0][0] = r[0];
    beta[0] = 1;
    alpha[0] = r[0];
    for (int k = 1; k < N; k++) {
        beta[k] = beta[k - 1] - alpha[k - 1] * alpha[k - 1] * beta[k - 1];
        sum[0][k] = r[k];
        for (int i = 0; i < k; i++)
            sum[i + 1][k] = sum[i][k] + r[k - i - 1] * y[i][k - 1];
reflect:
        alpha[k] = -sum[k][k] * beta[k];
        for (int i = 0; i < k; i++)
update:
            y[i][k] = y[i][k - 1] + alpha[k] * y[k - i - 1][k - 1];
        y[k][k] = alpha[k];
    }
    for (int i = 0; i < N; i++)
        out[i] = y[i][N - 1];
}
