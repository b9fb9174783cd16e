#include "show.h"
#define WIDTH 4
int a[64], r[16];
int main(void) {
    for (int i = 0; i < 64; ++i) a[i] = i * i % 31;
    #pragma omp target parallel for map(to: a) map(from: r)
    for (int i = 0; i < 16; ++i) {
        int sum = 0;
        #pragma unroll WIDTH
        for (int k = i; k < i + WIDTH; ++k) sum = sum * 3 + a[4 * i + (k - i)];
        r[i] = sum;
    }
    SHOW("%d", r, 16);
}
