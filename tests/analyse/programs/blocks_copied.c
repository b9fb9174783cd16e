/* Blocks that are copied to local memory as a whole. */
#include "rows.h"
#include <omp.h>
#include <string.h>
#define B 64
#define COUNT 8
#define N (2 * COUNT * B)
static float in[N], out[2];
static void blocks(float *x, float *y) {
    #pragma omp target parallel map(to: x[0:N]) map(from: y[0:2]) num_threads(2)
    {
        int me = omp_get_thread_num();
        float sum = 0;
#if defined BUFFERS
        float buffer[2][B];
        for (int b = 0; b < COUNT + 1; b++) {
            if (b < COUNT)
                memcpy(buffer[b & 1], &x[(me * COUNT + b) * B], sizeof buffer[0]);
            if (b > 0)
                for (int k = 0; k < B; k++)
                    sum += buffer[(b - 1) & 1][k];
        }
#elif defined REWRITTEN
        float tile[B];
        int number = 0;
        while (number < COUNT) {
            float *from = x + (number + me * COUNT) * B;
            memcpy(tile, from, B * sizeof(float));
            int at = 0;
            do {
                float now = tile[at];
                sum = sum + now;
                at++;
            } while (at < B);
            number++;
        }
#else
        float buffer[B];
        for (int b = 0; b < COUNT; b++) {
            memcpy(buffer, &x[(me * COUNT + b) * B], sizeof buffer);
            for (int k = 0; k < B; k++)
                sum += buffer[k];
        }
#endif
        y[me] = sum;
    }
}
int main(void) {
    fill(in, N, 3);
    blocks(in, out);
    show(out, 2);
    return 0;
}
