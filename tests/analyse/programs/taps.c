/* A filter of eight taps. VECTOR: four taps at once; LOCAL: the taps are read once. */
#include "rows.h"
#include <omp.h>
#define N 128
#define T 8
static float taps[T], in[N + T], out[N];
static void filter(float *h, float *x, float *y) {
    #pragma omp target parallel map(to: h[0:T], x[0:N+T]) map(from: y[0:N]) num_threads(4)
    {
#ifdef LOCAL
        float own[T], past[T];
        for (int k = 0; k < T; k++)
            own[k] = h[k];
#endif
#ifdef REWRITTEN
        int n = omp_get_thread_num() * (N / 4), last = n + N / 4;
        while (n < last) {
            float acc = 0;
            int tap = 0;
            while (tap < T) {
                int at = tap + n;
                acc += x[at] * h[tap];
                tap += 1;
            }
            y[n] = acc;
            n++;
        }
#else
        #pragma omp for
        for (int i = 0; i < N; i++) {
            float sum = 0;
#if defined LOCAL
            /* Of eight samples seven are there from before. */
            if (i % (N / 4) == 0)
                for (int k = 0; k < T; k++)
                    past[(i + k) % T] = x[i + k];
            else
                past[(i + T - 1) % T] = x[i + T - 1];
            for (int k = 0; k < T; k++)
                sum += own[k] * past[(i + k) % T];
#elif defined VECTOR
            for (int k = 0; k < T; k += LANES) {
                vec a = *((vec *)&h[k]);
                #pragma unroll LANES
                for (int v = 0; v < LANES; v++)
                    sum += a[v] * x[i + k + v];
            }
#else
            for (int k = 0; k < T; k++)
                sum += h[k] * x[i + k];
#endif
            y[i] = sum;
        }
#endif
    }
}
int main(void) {
    fill(taps, T, 2);
    fill(in, N + T, 6);
    filter(taps, in, out);
    show(out, N);
    return 0;
}
