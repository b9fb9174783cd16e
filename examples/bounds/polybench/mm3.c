/* G = (A B) (C D). */
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
#ifndef NM
#define NM 32
#endif
#ifndef REAL
#define REAL double
#endif

void kernel_mm3(REAL E[NI][NJ], REAL A[NI][NK], REAL B[NK][NJ], REAL F[NJ][NL], REAL C[NJ][NM], REAL D[NM][NL],
                REAL G[NI][NL])
{
    for (int i = 0; i < NI; i++)
        for (int j = 0; j < NJ; j++) {
            E[i][j] = 0;
            for (int k = 0; k < NK; k++)
                E[i][j] += A[i][k] * B[k][j];
        }
    for (int i = 0; i < NJ; i++)
        for (int j = 0; j < NL; j++) {
            F[i][j] = 0;
            for (int k = 0; k < NM; k++)
                F[i][j] += C[i][k] * D[k][j];
        }
    for (int i = 0; i < NI; i++)
        for (int j = 0; j < NL; j++) {
            G[i][j] = 0;
            for (int k = 0; k < NJ; k++)
                G[i][j] += E[i][k] * F[k][j];
        }
}
