#include "show.h"
void scale(int n, int m, double a[n][m], double by) {
    #pragma omp target parallel for map(tofrom: a[0:n])
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < m; ++j) a[i][j] = a[i][j] * by + i;
}
int main(void) {
    double a[5][7];
    for (int i = 0; i < 35; ++i) a[i / 7][i % 7] = i * 0.125;
    scale(5, 7, a, 1.5);
    SHOW("%g", &a[0][0], 35);
}
