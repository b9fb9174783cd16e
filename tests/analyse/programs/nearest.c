/* Sums of the points nearest to each of some centres. VECTOR: a point's coordinates come at once;
   LOCAL: centres and the point are read once; PRIVATE: each thread sums up by itself. */
#include "rows.h"
#include <omp.h>
#define N 128
#define K 4
#define D 4
static float points[N * D], centres[K * D], sums[K * D];
static void nearest(float *p, float *c, float *s) {
    #pragma omp target parallel map(to: p[0:N*D], c[0:K*D]) map(tofrom: s[0:K*D]) num_threads(4)
    {
#ifdef LOCAL
        float own[K * D];
        for (int k = 0; k < K * D; k++)
            own[k] = c[k];
#endif
#ifdef PRIVATE
        float mine[K * D];
        for (int k = 0; k < K * D; k++)
            mine[k] = 0;
#endif
#ifdef REWRITTEN
        int row = omp_get_thread_num() * (N / 4), end = row + N / 4;
        while (row < end) {
            int which = 0, k = 0;
            float least = 1e30f;
            while (k < K) {
                float far = 0;
                int dim = 0;
                while (dim < D) {
                    int at = dim + D * row, from = k * D + dim;
                    float apart = p[at] - c[from];
                    far += apart * apart;
                    ++dim;
                }
                if (far < least) {
                    least = far;
                    which = k;
                }
                k++;
            }
            #pragma omp critical
            {
                int q = 0;
                while (q < D) {
                    int to = which * D + q, at = row * D + q;
                    s[to] = s[to] + p[at];
                    q += 1;
                }
            }
            row = row + 1;
        }
#else
        #pragma omp for
        for (int i = 0; i < N; i++) {
            int best = 0;
            float distance = 1e30f;
#ifdef LOCAL
            float point[D];
            for (int q = 0; q < D; q++)
                point[q] = p[i * D + q];
#endif
            for (int k = 0; k < K; k++) {
                float d = 0;
#if defined VECTOR
                vec t = *((vec *)&p[i * D]) - *((vec *)&c[k * D]);
                #pragma unroll LANES
                for (int q = 0; q < LANES; q++)
                    d += t[q] * t[q];
#elif defined LOCAL
                for (int q = 0; q < D; q++) {
                    float t = point[q] - own[k * D + q];
                    d += t * t;
                }
#else
                for (int q = 0; q < D; q++) {
                    float t = p[i * D + q] - c[k * D + q];
                    d += t * t;
                }
#endif
                if (d < distance) {
                    distance = d;
                    best = k;
                }
            }
#ifdef PRIVATE
            for (int q = 0; q < D; q++)
                mine[best * D + q] += p[i * D + q];
#else
            #pragma omp critical
#ifdef VECTOR
            *((vec *)&s[best * D]) += *((vec *)&p[i * D]);
#else
            for (int q = 0; q < D; q++)
                s[best * D + q] += p[i * D + q];
#endif
#endif
        }
#ifdef PRIVATE
        #pragma omp critical
        for (int k = 0; k < K * D; k++)
            s[k] += mine[k];
#endif
#endif
    }
}
int main(void) {
    fill(points, N * D, 1);
    fill(centres, K * D, 5);
    nearest(points, centres, sums);
    show(sums, K * D);
    return 0;
}
