// A pointer into what is mapped already: what the region stores there the host sees.
#include <stdio.h>

int main(void) {
    int a[16], b[16], *p = a;
    for (int i = 0; i < 16; i++)
        a[i] = b[i] = i;
#pragma omp target data map(tofrom: a, b)
    {
#pragma omp target parallel for map(to: p[:16], b) num_threads(3)
        for (int i = 0; i < 16; i++) {
            p[i] = b[i] * i;
            b[i] = p[i] + 1;
        }
    }
    for (int i = 0; i < 16; i++)
        printf("%d %d\n", a[i], b[i]);
}
