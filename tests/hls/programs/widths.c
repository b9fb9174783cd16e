#include "show.h"
int8_t a[20]; uint8_t b[20]; int16_t c[20]; uint16_t d[20]; int64_t e[20]; uint64_t f[20];
int main(void) {
    for (int i = 0; i < 20; ++i) { a[i] = i * 13; b[i] = i * 17; c[i] = i * 3001; d[i] = i * 4001; e[i] = i * 1234567890123; }
    #pragma omp target parallel for map(tofrom: a, b, c, d, e) map(from: f)
    for (int i = 0; i < 20; ++i) {
        a[i] = a[i] * 3 - b[i];
        b[i] += a[i] >> 1;
        c[i] = c[i] / 3 + d[i];
        d[i] = d[i] % 1000 ^ c[i];
        e[i] = e[i] * 31 >> 3;
        f[i] = (uint64_t)e[i] / 7 + (uint32_t)a[i];
    }
    SHOW("%d", a, 20); SHOW("%u", b, 20); SHOW("%d", c, 20); SHOW("%u", d, 20);
    SHOW("%ld", e, 20); SHOW("%lu", f, 20);
}
