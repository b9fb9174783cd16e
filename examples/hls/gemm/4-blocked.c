/* Blocks of A and B are brought into local memory; a block of C is summed up from them. */
#include "gemm.h"
#include <omp.h>
#define BLOCK VECTOR_LEN

void matmul(float *A, float *B, float *C, int dim) {
    #pragma omp target parallel map(from: C[0:dim*dim]) \
        map(to: A[0:dim*dim], B[0:dim*dim]) num_threads(8)
    {
        VECTOR A_local[BLOCK];
        VECTOR B_local[BLOCK];
        VECTOR C_local[BLOCK];
        int me = omp_get_thread_num();
        int threads = omp_get_num_threads();
        for (int i = me * BLOCK; i < dim; i += threads * BLOCK) {
            for (int j = 0; j < dim; j += BLOCK) {
                for (int k = 0; k < dim; k += BLOCK) {
                    for (int m = 0; m < BLOCK; ++m) {
                        A_local[m] = *((VECTOR *)&A[(i + m) * dim + k]);
                        B_local[m] = *((VECTOR *)&B[(k + m) * dim + j]);
                    }
                    for (int x = 0; x < BLOCK; ++x) {
                        VECTOR a = A_local[x];
                        VECTOR sum = {0.0f};
                        if (k != 0)
                            sum = C_local[x];
                        #pragma unroll BLOCK
                        for (int v = 0; v < BLOCK; ++v)
                            sum += a[v] * B_local[v];
                        C_local[x] = sum;
                    }
                }
                for (int x = 0; x < BLOCK; ++x)
                    *((VECTOR *)&C[(i + x) * dim + j]) = C_local[x];
            }
        }
    }
}
