/* Gram-Schmidt orthogonalisation. */
#include <math.h>
#ifndef NI
#define NI 32
#endif
#ifndef NJ
#define NJ 32
#endif
#ifndef REAL
#define REAL double
#endif

void kernel_gramschmidt(REAL A[NI][NJ], REAL R[NJ][NJ], REAL Q[NI][NJ])
{
    REAL norm;
    for (int k = 0; k < NJ; k++) {
        norm = 0;
        for (int i = 0; i < NI; i++)
            norm += A[i][k] * A[i][k];
        R[k][k] = sqrt(norm);
        for (int i = 0; i < NI; i++)
            Q[i][k] = A[i][k] / R[k][k];
        for (int j = k + 1; j < NJ; j++) {
            R[k][j] = 0;
            for (int i = 0; i < NI; i++)
                R[k][j] += Q[i][k] * A[i][j];
            for (int i = 0; i < NI; i++)
                A[i][j] = A[i][j] - Q[i][k] * R[k][j];
        }
    }
}
