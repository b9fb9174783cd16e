#include "show.h"
int a[32]; unsigned b[32]; long c[32];
int main(void) {
    #pragma omp target parallel for map(from: a, b, c)
    for (int i = 0; i < 32; ++i) {
        a[i] = (-123456789 >> i) + (int)(1u << i);
        b[i] = 0xdeadbeefu >> i | 0xdeadbeefu << (31 - i);
        c[i] = (0x123456789abcdefL << (i & 7)) >> (2 * i);
    }
    SHOW("%d", a, 32); SHOW("%u", b, 32); SHOW("%ld", c, 32);
}
