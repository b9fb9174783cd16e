/* What the programs here share: data of small integers, whose sums are exact, and a checksum. */
#ifndef ROWS_H
#define ROWS_H
#include <stdio.h>

#define LANES 4
typedef float vec __attribute__((vector_size(4 * LANES)));

static inline void fill(float *at, int n, int seed) {
    for (int i = 0; i < n; i++)
        at[i] = (float)((i * 7 + seed) % 13 - 6);
}

static inline void show(const float *at, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += at[i] * (i % 5 + 1);
    printf("%.1f\n", sum);
}
#endif
