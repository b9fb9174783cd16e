#include "show.h"
static uint32_t next(uint32_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}
uint32_t r[8];
int main(void) {
    #pragma omp target parallel for map(from: r)
    for (int i = 0; i < 8; ++i) {
        uint32_t state = 2463534242u + i, sum = 0;
        for (int k = 0; k < 50; ++k) sum += next(&state) >> 8;
        r[i] = sum;
    }
    SHOW("%u", r, 8);
}
