/* Threads share each dot product; what they add to C is protected by a critical section. */
#include "gemm.h"
#include <omp.h>

void matmul(float *A, float *B, float *C, int dim) {
    #pragma omp target parallel map(tofrom: C[0:dim*dim]) \
        map(to: A[0:dim*dim], B[0:dim*dim]) num_threads(8)
    {
        int me = omp_get_thread_num();
        int threads = omp_get_num_threads();
        for (int i = 0; i < dim; ++i) {
            for (int j = 0; j < dim; ++j) {
                float sum = 0;
                for (int k = me; k < dim; k += threads)
                    sum += A[i * dim + k] * B[k * dim + j];
                #pragma omp critical
                C[i * dim + j] += sum;
            }
        }
    }
}
