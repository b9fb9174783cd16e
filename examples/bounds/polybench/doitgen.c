/* Multi-resolution analysis kernel. */
#ifndef NR
#define NR 10
#endif
#ifndef NQ
#define NQ 10
#endif
#ifndef NP
#define NP 10
#endif
#ifndef REAL
#define REAL double
#endif

void kernel_doitgen(REAL A[NR][NQ][NP], REAL C4[NP][NP], REAL sum[NR][NQ][NP])
{
    for (int r = 0; r < NR; r++)
        for (int q = 0; q < NQ; q++) {
            for (int p = 0; p < NP; p++) {
                sum[r][q][p] = 0;
                for (int s = 0; s < NP; s++)
                    sum[r][q][p] = sum[r][q][p] + A[r][q][s] * C4[s][p];
            }
            for (int p = 0; p < NP; p++)
                A[r][q][p] = sum[r][q][p];
        }
}
