/* Pi by an infinite series; each thread sums up a share of it, then all are added up. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#define LANES 4
typedef float VECTOR __attribute__((vector_size(4 * LANES)));

static float pi(int steps) {
    float total = 0.0f;
    float step = 1.0f / (float)steps;
    #pragma omp target parallel map(to: step) map(tofrom: total) num_threads(8)
    {
        int share = steps / omp_get_num_threads();
        int start = omp_get_thread_num() * share;
        VECTOR sum = {0.0f};
        float width = step;
        for (int i = 0; i < share; i += LANES) {
            #pragma unroll LANES
            for (int j = 0; j < LANES; ++j) {
                float x = ((float)(i + start + j) + 0.5f) * width;
                sum[j] += 4.0f / (1.0f + x * x);
            }
        }
        #pragma omp critical
        for (int i = 0; i < LANES; ++i)
            total += sum[i];
    }
    return total * step;
}

int main(int argc, char **argv) {
    int steps = argc > 1 ? atoi(argv[1]) : 16000; /* a multiple of threads and lanes */
    printf("%d steps: %.3f\n", steps, pi(steps));
    return 0;
}
