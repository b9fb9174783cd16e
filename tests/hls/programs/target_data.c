/* What the host has mapped before, blocks that no clause maps, lengths known at run time, scalars
   that the region has a copy of, and one that it has itself. */
#include "show.h"

#pragma omp declare target
static int scale, total;
#pragma omp end declare target

static void add(int *to, const int *from, int n) {
    int last = -1, step = 2, rows[n];
    for (int i = 0; i < n; i++)
        rows[i] = i % 5;
#pragma omp target parallel
    {
#pragma omp single
        {
            step = step + 1;
            last = n - 1;
            total += scale;
        }
#pragma omp for
        for (int i = 0; i < n; i++)
            to[i] += step * from[i] + rows[i] + (i == last) * total;
    }
    printf("%d %d %d\n", last, step, total);
}

int main(void) {
    int n = 37;
    int *a = malloc(n * sizeof *a), b[n];
    scale = 3;
    for (int i = 0; i < n; i++) {
        a[i] = i;
        b[i] = 2 * i + scale;
    }
#pragma omp target data map(to: b[0:n]) map(tofrom: a[0:n])
    {
        int *from = malloc(n * sizeof *from);
        from = realloc(from, 2 * n * sizeof *from);
        for (int i = 0; i < 2 * n; i++)
            from[i] = b[i % n];
        add(a, from + 5, n);
        free(from);
    }
    SHOW("%d", a, n);
    free(a);
}
