#include "show.h"
int r[16]; int lengths[16];
int main(void) {
    for (int i = 0; i < 16; ++i) lengths[i] = i * 3 % 11;
    #pragma omp target parallel for map(to: lengths) map(from: r)
    for (int i = 0; i < 16; ++i) {
        int x = i, n = lengths[i];
        #pragma unroll 4
        for (int k = 0; k < n; ++k) x = x * 5 + k;
        #pragma unroll 3
        for (int k = 0; k < 12; ++k) x ^= k << (x & 3);
        r[i] = x;
    }
    SHOW("%d", r, 16);
}
