#include "show.h"
float a[512], r[8];
int main(void) {
    for (int i = 0; i < 512; ++i) a[i] = i % 23 - 11;
    #pragma omp target parallel for map(to: a) map(from: r)
    for (int i = 0; i < 8; ++i) {
        float block[64];
        for (int k = 0; k < 64; ++k) block[k] = a[64 * i + k];
        float sum = 0;
        for (int k = 0; k < 64; ++k) sum += block[k] * block[63 - k];
        r[i] = sum;
    }
    SHOW("%g", r, 8);
}
