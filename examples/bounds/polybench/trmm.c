/* B = alpha A B, A triangular. */
#ifndef NI
#define NI 32
#endif
#ifndef REAL
#define REAL double
#endif

void kernel_trmm(REAL alpha, REAL A[NI][NI], REAL B[NI][NI])
{
    for (int i = 1; i < NI; i++)
        for (int j = 0; j < NI; j++)
            for (int k = 0; k < i; k++)
                B[i][j] += alpha * A[i][k] * B[j][k];
}
