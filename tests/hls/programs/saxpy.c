#include "show.h"
int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 100;
    float *x = malloc(n * sizeof *x), *y = malloc(n * sizeof *y), a = 2.5f;
    for (int i = 0; i < n; ++i) { x[i] = i * 0.25f; y[i] = 100 - i; }
    #pragma omp target teams distribute parallel for map(to: x[0:n]) map(tofrom: y[0:n])
    for (int i = 0; i < n; ++i)
        y[i] = a * x[i] + y[i];
    SHOW("%g", y, n);
    free(x);
    free(y);
}
