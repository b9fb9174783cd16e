/* Blocks of a long array that come into local memory, each of which is worked on. BUFFERS: two,
   so that the next block comes while the last one is worked on. */
#include "rows.h"
#if KIND == 1 /* added up */
#define REPEAT 2
#define WORK(sum, v) ((sum) + (v))
#elif KIND == 2 /* weighed with what was before */
#define REPEAT 1
#define WORK(sum, v) ((sum) * 0.5f + (v))
#else /* of which the largest elements are found, several times over */
#define REPEAT 4
#define WORK(sum, v) ((v) > (sum) ? (v) : (sum))
#endif
#include <omp.h>
#define B 16
#define COUNT 12
#define N (4 * COUNT * B)
static float in[N], out[4];
static void blocks(float *x, float *y) {
    #pragma omp target parallel map(to: x[0:N]) map(from: y[0:4]) num_threads(4)
    {
        int me = omp_get_thread_num();
        float sum = 0;
#if defined BUFFERS
        float buffer[2][B];
        for (int b = 0; b < COUNT + 1; b++) {
            if (b < COUNT)
                for (int k = 0; k < B; k++)
                    buffer[b & 1][k] = x[(me * COUNT + b) * B + k];
            if (b > 0)
                for (int r = 0; r < REPEAT; r++)
                    for (int k = 0; k < B; k++)
                        sum = WORK(sum, buffer[(b - 1) & 1][k]);
        }
#elif defined REWRITTEN
        float tile[B];
        int block = 0;
        while (block < COUNT) {
            int from = (block + me * COUNT) * B, at = 0;
            while (at < B) {
                int place = from + at;
                float now = x[place];
                tile[at] = now;
                at++;
            }
            int pass = 0;
            while (pass < REPEAT) {
                int n = 0;
                while (n < B) {
                    float now = tile[n];
                    sum = WORK(sum, now);
                    n = n + 1;
                }
                ++pass;
            }
            block += 1;
        }
#else
        float buffer[B];
        for (int b = 0; b < COUNT; b++) {
            for (int k = 0; k < B; k++)
                buffer[k] = x[(me * COUNT + b) * B + k];
            for (int r = 0; r < REPEAT; r++)
                for (int k = 0; k < B; k++)
                    sum = WORK(sum, buffer[k]);
        }
#endif
        y[me] = sum;
    }
}
int main(void) {
    fill(in, N, 3);
    blocks(in, out);
    show(out, 4);
    return 0;
}
