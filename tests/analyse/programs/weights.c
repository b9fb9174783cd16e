/* Weights that are used for every row: LOCAL: they are read once a thread. */
#include "rows.h"
#include <omp.h>
#define N 40
#define W 32
static float weights[W], out[N];
static void weigh(float *w, float *y) {
    #pragma omp target parallel map(to: w[0:W]) map(from: y[0:N]) num_threads(4)
    {
#ifdef LOCAL
        float own[W];
        for (int k = 0; k < W; k++)
            own[k] = w[k];
#define WEIGHT(k) own[k]
#else
#define WEIGHT(k) w[k]
#endif
#ifdef REWRITTEN
        int row = omp_get_thread_num() * (N / 4), stop = row + N / 4;
        while (row < stop) {
            float total = 0;
            int column = 0;
            do {
                int bits = (row ^ column) & 7;
                float weight = w[column];
                total = total + weight * (float)bits;
                column++;
            } while (column < W);
            y[row] = total;
            row++;
        }
#else
        #pragma omp for
        for (int i = 0; i < N; i++) {
            float sum = 0;
            for (int k = 0; k < W; k++)
                sum += WEIGHT(k) * (float)((i ^ k) & 7);
            y[i] = sum;
        }
#endif
    }
}
int main(void) {
    fill(weights, W, 4);
    weigh(weights, out);
    show(out, N);
    return 0;
}
