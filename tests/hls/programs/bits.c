#include "show.h"
static int ones(uint64_t x) { int n = 0; for (; x; x &= x - 1) ++n; return n; }
static uint32_t mirrored(uint32_t x) {
    uint32_t y = 0;
    #pragma unroll
    for (int i = 0; i < 32; ++i) y |= (x >> i & 1) << (31 - i);
    return y;
}
int a[20]; uint32_t b[20];
int main(void) {
    #pragma omp target parallel for map(from: a, b)
    for (int i = 0; i < 20; ++i) { a[i] = ones(0x9e3779b97f4a7c15u * i); b[i] = mirrored(i * 2654435761u); }
    SHOW("%d", a, 20); SHOW("%u", b, 20);
}
