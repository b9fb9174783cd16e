/* A-transpose times A times x. */
#ifndef NX
#define NX 32
#endif
#ifndef NY
#define NY 32
#endif
#ifndef REAL
#define REAL double
#endif

void kernel_atax(REAL A[NX][NY], REAL x[NY], REAL y[NY], REAL tmp[NX])
{
    for (int j = 0; j < NY; j++)
        y[j] = 0;
    for (int i = 0; i < NX; i++) {
        tmp[i] = 0;
        for (int j = 0; j < NY; j++)
            tmp[i] = tmp[i] + A[i][j] * x[j];
        for (int j = 0; j < NY; j++)
            y[j] = y[j] + A[i][j] * tmp[i];
    }
}
