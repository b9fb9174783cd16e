/* What surrounds the five versions of the matrix product: data, and a check of the result. */
#ifndef GEMM_H
#define GEMM_H
#include <stdio.h>
#include <stdlib.h>

#ifndef DIM
#define DIM 64 /* a multiple of the block size and of the number of threads */
#endif

#ifndef VECTOR_LEN
#define VECTOR_LEN 4
#endif
typedef float VECTOR __attribute__((vector_size(4 * VECTOR_LEN)));

static float *matrix(void) {
    return aligned_alloc(64, sizeof(float) * DIM * DIM);
}

/* Small integers: their products and sums are exact, in whatever order they are added. */
static void fill(float *m, int seed) {
    for (int i = 0; i < DIM * DIM; ++i)
        m[i] = (float)((i * 7 + i / DIM * 3 + seed) % 17 - 8);
}

void matmul(float *A, float *B, float *C, int dim);

int main(void) {
    float *A = matrix(), *B = matrix(), *C = matrix();
    fill(A, 1);
    fill(B, 5);
    for (int i = 0; i < DIM * DIM; ++i)
        C[i] = 0;
    matmul(A, B, C, DIM);
    int wrong = 0;
    for (int i = 0; i < DIM; ++i)
        for (int j = 0; j < DIM; ++j) {
            float sum = 0;
            for (int k = 0; k < DIM; ++k)
                sum += A[i * DIM + k] * B[k * DIM + j];
            wrong += C[i * DIM + j] != sum;
        }
    double trace = 0;
    for (int i = 0; i < DIM; ++i)
        trace += C[i * DIM + i];
    printf("%d x %d, trace %g, %d wrong\n", DIM, DIM, trace, wrong);
    free(A);
    free(B);
    free(C);
    return wrong != 0;
}
#endif
