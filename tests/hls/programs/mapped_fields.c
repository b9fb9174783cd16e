// What pointers in a struct of the host's point to, with and without a clause that says how much.
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    int n;
    float *x, *y;
} pair;
typedef struct {
    pair p;
    int factor, *count, *block;
} whole;

static void scale(const pair *p, int factor, int first, int step) {
    for (int i = first; i < p->n; i += step)
        p->y[i] = p->x[i] * factor + 1;
}

int main(void) {
    enum { N = 24 };
    whole w = {{N, malloc(4 * N), malloc(4 * N)}, 3, calloc(N, 4), calloc(N, 4)};
    int p_x = 5; // another name that a field's memory could have
    for (int i = 0; i < N; i++) {
        w.p.x[i] = i / 2.0f;
        w.p.y[i] = 0;
    }
#pragma omp target teams distribute parallel for num_threads(3) map(to: w, w.p.x[:w.p.n], p_x) \
    map(tofrom: w.p.y[:w.p.n], w.count[0:N])
    for (int i = 0; i < N; i++) {
        scale(&w.p, w.factor, i, N);
        w.count[i] += i * p_x;
        w.block[i] = w.count[i] ^ 5;
    }
    for (int i = 0; i < N; i++)
        printf("%g %d %d\n", w.p.y[i], w.count[i], w.block[i]);
}
