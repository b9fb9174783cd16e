/* While a thread computes on one pair of blocks, the next pair comes in. */
#include "gemm.h"
#include <omp.h>
#define BLOCK VECTOR_LEN
#define BUFFERS 2

void matmul(float *A, float *B, float *C, int dim) {
    #pragma omp target parallel map(from: C[0:dim*dim]) \
        map(to: A[0:dim*dim], B[0:dim*dim]) num_threads(8)
    {
        VECTOR A_local[BUFFERS][BLOCK];
        VECTOR B_local[BUFFERS][BLOCK];
        VECTOR C_local[BLOCK];
        int me = omp_get_thread_num();
        int threads = omp_get_num_threads();
        for (int i = me * BLOCK; i < dim; i += threads * BLOCK) {
            for (int j = 0; j < dim; j += BLOCK) {
                for (int k = 0, buffer = 0; k < dim + BLOCK; k += BLOCK, ++buffer) {
                    if (k < dim) {
                        for (int m = 0; m < BLOCK; ++m) {
                            A_local[buffer & 1][m] = *((VECTOR *)&A[(i + m) * dim + k]);
                            B_local[buffer & 1][m] = *((VECTOR *)&B[(k + m) * dim + j]);
                        }
                    }
                    if (buffer != 0) {
                        for (int x = 0; x < BLOCK; ++x) {
                            VECTOR a = A_local[(buffer - 1) & 1][x];
                            VECTOR sum = {0.0f};
                            if (buffer != 1)
                                sum = C_local[x];
                            #pragma unroll BLOCK
                            for (int v = 0; v < BLOCK; ++v)
                                sum += a[v] * B_local[(buffer - 1) & 1][v];
                            C_local[x] = sum;
                        }
                    }
                }
                for (int x = 0; x < BLOCK; ++x)
                    *((VECTOR *)&C[(i + x) * dim + j]) = C_local[x];
            }
        }
    }
}
