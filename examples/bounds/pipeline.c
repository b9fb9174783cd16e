/* Kernels as parts of a larger program: a matrix product, its columns' means, a product with them. */
#define N 16

static void product(double C[N][N], double A[N][N], double B[N][N])
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            C[i][j] = 0;
            for (int k = 0; k < N; k++)
                C[i][j] += A[i][k] * B[k][j];
        }
}

static void column_mean(int j, double A[N][N], double *mean)
{
    double sum = 0;
    for (int i = 0; i < N; i++)
        sum += A[i][j];
    *mean = sum / N;
}

static void centre(double A[N][N], double mean[N])
{
    for (int j = 0; j < N; j++)
        column_mean(j, A, &mean[j]);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            A[i][j] = A[i][j] - mean[j];
}

void pipeline(double A[N][N], double B[N][N], double y[N], double x[N])
{
    static double C[N][N];
    double mean[N];
    product(C, A, B);
    centre(C, mean);
    for (int i = 0; i < N; i++) {
        y[i] = 0;
        for (int j = 0; j < N; j++)
            y[i] += C[i][j] * x[j];
    }
}
