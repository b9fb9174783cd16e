/* Rows of A come in vectors; B, read by columns, still comes element by element. */
#include "gemm.h"
#include <omp.h>

void matmul(float *A, float *B, float *C, int dim) {
    #pragma omp target parallel map(from: C[0:dim*dim]) \
        map(to: A[0:dim*dim], B[0:dim*dim]) num_threads(8)
    {
        int me = omp_get_thread_num();
        int threads = omp_get_num_threads();
        for (int i = me; i < dim; i += threads) {
            for (int j = 0; j < dim; ++j) {
                float sum = 0;
                for (int k = 0; k < dim; k += VECTOR_LEN) {
                    VECTOR a = *((VECTOR *)&A[i * dim + k]);
                    #pragma unroll VECTOR_LEN
                    for (int v = 0; v < VECTOR_LEN; ++v)
                        sum += a[v] * B[(k + v) * dim + j];
                }
                C[i * dim + j] = sum;
            }
        }
    }
}
