/* Distances in a graph, level by level. */
#include "show.h"
#define N 24
#define LEVELS 6
int main(void) {
    int first[N + 1], to[3 * N], distance[N], reached = 1;
    for (int v = 0; v <= N; ++v)
        first[v] = 3 * v;
    for (int e = 0; e < 3 * N; ++e)
        to[e] = (e / 3 * (e % 3 + 1) + 7 * (e % 3)) % N;
    for (int v = 0; v < N; ++v)
        distance[v] = v ? -1 : 0;
    #pragma omp target parallel map(to: first, to) map(tofrom: distance, reached)
    for (int level = 0; level < LEVELS; ++level) {
        #pragma omp for schedule(static, 2)
        for (int v = 0; v < N; ++v) {
            if (distance[v] != -1)
                continue;
            int near = 0;
            for (int w = 0; w < N && !near; ++w)
                if (distance[w] == level)
                    for (int e = first[w]; e < first[w + 1]; ++e)
                        near |= to[e] == v;
            if (near)
                #pragma omp critical
                {
                    distance[v] = -2 - level;
                    reached++;
                }
        }
        #pragma omp for
        for (int v = 0; v < N; ++v)
            if (distance[v] == -2 - level)
                distance[v] = level + 1;
    }
    printf("%d\n", reached);
    SHOW("%d", distance, N);
}
