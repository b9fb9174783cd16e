#include "show.h"
int a[8 * 64], r[8];
int main(void) {
    for (int i = 0; i < 512; ++i) a[i] = i * 3 % 41;
    #pragma omp target parallel for map(to: a) map(from: r)
    for (int t = 0; t < 8; ++t) {
        int buffer[2][16], sum = 0;
        for (int b = 0; b <= 4; ++b) {
            if (b < 4)
                for (int k = 0; k < 16; ++k) buffer[b & 1][k] = a[64 * t + 16 * b + k];
            if (b > 0)
                for (int k = 0; k < 16; ++k) sum = sum * 2 % 9973 + buffer[(b - 1) & 1][k];
        }
        r[t] = sum;
    }
    SHOW("%d", r, 8);
}
