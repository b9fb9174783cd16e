/* Three-point stencil. */
#ifndef T
#define T 2
#endif
#ifndef N
#define N 500
#endif
#ifndef REAL
#define REAL double
#endif

void kernel_jacobi_1d(REAL A[N], REAL B[N])
{
    for (int t = 0; t < T; t++) {
        for (int i = 1; i < N - 1; i++)
            B[i] = 0.33333 * (A[i - 1] + A[i] + A[i + 1]);
        for (int j = 1; j < N - 1; j++)
            A[j] = B[j];
    }
}
