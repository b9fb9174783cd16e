/* C = alpha A A' + beta C. */
#ifndef NI
#define NI 32
#endif
#ifndef NJ
#define NJ 32
#endif
#ifndef REAL
#define REAL double
#endif

void kernel_syrk(REAL alpha, REAL beta, REAL C[NI][NI], REAL A[NI][NJ])
{
    for (int i = 0; i < NI; i++)
        for (int j = 0; j < NI; j++)
            C[i][j] *= beta;
    for (int i = 0; i < NI; i++)
        for (int j = 0; j < NI; j++)
            for (int k = 0; k < NJ; k++)
                C[i][j] += alpha * A[i][k] * A[j][k];
}
