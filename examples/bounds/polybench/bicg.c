/* Kernel of the biconjugate gradient method. */
#ifndef NX
#define NX 32
#endif
#ifndef NY
#define NY 32
#endif
#ifndef REAL
#define REAL double
#endif

void kernel_bicg(REAL A[NX][NY], REAL s[NY], REAL q[NX], REAL p[NY], REAL r[NX])
{
    for (int j = 0; j < NY; j++)
        s[j] = 0;
    for (int i = 0; i < NX; i++) {
        q[i] = 0;
        for (int j = 0; j < NY; j++) {
            s[j] = s[j] + r[i] * A[i][j];
            q[i] = q[i] + A[i][j] * p[j];
        }
    }
}
