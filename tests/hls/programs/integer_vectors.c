#include "show.h"
typedef int v8 __attribute__((vector_size(32)));
int a[64], r[64];
int main(void) {
    for (int i = 0; i < 64; ++i) a[i] = i * 77 % 50;
    #pragma omp target parallel for map(to: a) map(from: r)
    for (int i = 0; i < 64; i += 8) {
        v8 x = *(v8 *)(a + i), y = x + i;
        v8 big = x > 25;
        *(v8 *)(r + i) = (x & big) | (-y & ~big) ^ (x << 1);
    }
    SHOW("%d", r, 64);
}
