/* Collapsed loops whose bounds depend on the ones around them. */
#include "show.h"

enum { N = 13 };
int a[N][N], b[N][N], c[N][N], who[N][N], i, j, sum;

int main(void) {
#pragma omp target parallel map(tofrom: a, b, c, who, i, j, sum)
    {
#pragma omp for collapse(2) lastprivate(i, j) reduction(+: sum)
        for (i = 0; i < N; i++)
            for (j = i; j < N; j++) {
                a[i][j] = 10 * i + j;
                sum += a[i][j];
            }
#pragma omp for collapse(2)
        for (long k = N - 1; k >= 0; k--)
            for (long l = k; l > -1; l--) {
                if (l == 4)
                    continue;
                b[k][l] += 100 + l;
            }
#pragma omp for collapse(3)
        for (int k = 0; k < N; k++)
            for (int l = 0; l <= k; l++)
                for (int m = l; m < N; m++)
                    if (m + l == k + 1)
                        c[k][l] = m;
    }
    for (int k = 0; k < N; k++) {
        SHOW("%d", a[k], N);
        SHOW("%d", b[k], N);
        SHOW("%d", c[k], N);
    }
    printf("%d %d %d\n", i, j, sum);
}
