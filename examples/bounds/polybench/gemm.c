/* C = alpha A B + beta C. */
#ifndef NI
#define NI 32
#endif
#ifndef NJ
#define NJ 32
#endif
#ifndef NK
#define NK 32
#endif
#ifndef REAL
#define REAL double
#endif

void kernel_gemm(REAL alpha, REAL beta, REAL C[NI][NJ], REAL A[NI][NK], REAL B[NK][NJ])
{
    for (int i = 0; i < NI; i++)
        for (int j = 0; j < NJ; j++) {
            C[i][j] *= beta;
            for (int k = 0; k < NK; k++)
accumulate:
                C[i][j] += alpha * A[i][k] * B[k][j];
        }
}
