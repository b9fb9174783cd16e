/* What all bodies do to each: LOCAL: all are read once a thread. VECTOR: four at once. */
#include "rows.h"
#include <omp.h>
#define N 48
static float place[N], force[N];
static void pairs(float *x, float *f) {
    #pragma omp target parallel map(to: x[0:N]) map(from: f[0:N]) num_threads(4)
    {
#ifdef LOCAL
        float own[N];
        for (int k = 0; k < N; k++)
            own[k] = x[k];
#endif
#ifdef REWRITTEN
        int body = omp_get_thread_num();
        while (body < N) {
            float pull = 0, here = x[body];
            int other = 0;
            while (other < N) {
                float there = x[other], apart = there - here;
                pull += apart * (apart < 0 ? -apart : apart);
                other++;
            }
            f[body] = pull;
            body += 4;
        }
#else
        for (int i = omp_get_thread_num(); i < N; i += 4) {
            float sum = 0, at = x[i];
#if defined LOCAL
            for (int j = 0; j < N; j++) {
                float d = own[j] - at;
                sum += d * (d < 0 ? -d : d);
            }
#elif defined VECTOR
            for (int j = 0; j < N; j += LANES) {
                vec b = *((vec *)&x[j]);
                #pragma unroll LANES
                for (int v = 0; v < LANES; v++) {
                    float d = b[v] - at;
                    sum += d * (d < 0 ? -d : d);
                }
            }
#else
            for (int j = 0; j < N; j++) {
                float d = x[j] - at;
                sum += d * (d < 0 ? -d : d);
            }
#endif
            f[i] = sum;
        }
#endif
    }
}
int main(void) {
    fill(place, N, 9);
    pairs(place, force);
    show(force, N);
    return 0;
}
