// A pointer into what is mapped already: what the region stores there the host sees.
#include <stdio.h>

int main(void) {
    int a[16], b[16], c[16], *p = a;
    for (int i = 0; i < 16; i++)
        a[i] = b[i] = c[i] = i;
#pragma omp target data map(tofrom: a, b, c)
    {
#pragma omp target parallel for map(to: p[:16], b) map(alloc: c) num_threads(3)
        for (int i = 0; i < 16; i++) {
            p[i] = b[i] * i;
            b[i] = p[i] + 1;
            c[i] += b[i];
        }
    }
    for (int i = 0; i < 16; i++)
        printf("%d %d %d\n", a[i], b[i], c[i]);
}
