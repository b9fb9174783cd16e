/* Sums of a triangle's columns: the first have few elements, the last have many. */
#include <stdio.h>
#define N 64
static int a[N * N], r[N];
void columns(int *a, int *r) {
    #pragma omp target parallel for schedule(static, CHUNK) map(to: a[0:N*N]) map(from: r[0:N])
    for (int i = 0; i < N; i++) {
        int s = 0;
        for (int j = 0; j <= i; j++)
            s = s * 3 + a[j * N + i];
        r[i] = s;
    }
}
int main(void) {
    for (int i = 0; i < N * N; i++)
        a[i] = i % 11;
    columns(a, r);
    printf("%d\n", r[9]);
    return 0;
}
