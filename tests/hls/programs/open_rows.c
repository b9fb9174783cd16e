#include "show.h"
static void work(int n, int m, float a[n][4][m], float (*b)[n], double *flat) {
    #pragma omp target parallel for map(tofrom: a[0:n], flat[0:n*m]) map(to: b[0:m])
    for (int i = 0; i < n; ++i) {
        double (*rows)[m] = (double (*)[m])flat;
        for (int l = 0; l < m; ++l) {
            for (int j = 0; j < 4; ++j)
                a[i][j][l] += b[l][i] * j;
            rows[i][l] += i * l;
        }
    }
}
int main(void) {
    int n = 5, m = 6;
    float (*a)[4][m] = calloc(n, sizeof *a), (*b)[n] = malloc(m * sizeof *b);
    double *flat = calloc(n * m, sizeof *flat);
    for (int i = 0; i < n * m; ++i)
        (*b)[i] = i * 0.5f;
    work(n, m, a, b, flat);
    SHOW("%g", (float *)a, 4 * n * m);
    SHOW("%g", flat, n * m);
}
