/* D = alpha A B C + beta D. */
#ifndef NI
#define NI 32
#endif
#ifndef NJ
#define NJ 32
#endif
#ifndef NK
#define NK 32
#endif
#ifndef NL
#define NL 32
#endif
#ifndef REAL
#define REAL double
#endif

void kernel_mm2(REAL alpha, REAL beta, REAL tmp[NI][NJ], REAL A[NI][NK], REAL B[NK][NJ], REAL C[NJ][NL],
                REAL D[NI][NL])
{
    for (int i = 0; i < NI; i++)
        for (int j = 0; j < NJ; j++) {
            tmp[i][j] = 0;
            for (int k = 0; k < NK; k++)
                tmp[i][j] += alpha * A[i][k] * B[k][j];
        }
    for (int i = 0; i < NI; i++)
        for (int j = 0; j < NL; j++) {
            D[i][j] *= beta;
            for (int k = 0; k < NJ; k++)
                D[i][j] += tmp[i][k] * C[k][j];
        }
}
