#include "show.h"
unsigned char data[256]; uint32_t crc[4];
int main(void) {
    for (int i = 0; i < 256; ++i) data[i] = i * 31 + (i >> 3);
    #pragma omp target parallel for map(to: data) map(from: crc)
    for (int b = 0; b < 4; ++b) {
        uint32_t c = ~0u;
        for (int i = 0; i < 64; ++i) {
            c ^= data[64 * b + i];
            #pragma unroll
            for (int k = 0; k < 8; ++k) c = c >> 1 ^ (c & 1 ? 0xedb88320u : 0);
        }
        crc[b] = ~c;
    }
    SHOW("%u", crc, 4);
}
