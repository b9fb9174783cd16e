/* C = alpha A B + beta C, A symmetric. */
#ifndef NI
#define NI 32
#endif
#ifndef NJ
#define NJ 32
#endif
#ifndef REAL
#define REAL double
#endif

void kernel_symm(REAL alpha, REAL beta, REAL C[NI][NJ], REAL A[NJ][NJ], REAL B[NI][NJ])
{
    REAL acc;
    for (int i = 0; i < NI; i++)
        for (int j = 0; j < NJ; j++) {
            acc = 0;
            for (int k = 0; k < j - 1; k++) {
                C[k][j] += alpha * A[k][i] * B[i][j];
                acc += B[k][j] * A[k][i];
            }
            C[i][j] = beta * C[i][j] + alpha * A[i][i] * B[i][j] + alpha * acc;
        }
}
