/* Vectors of 8 to 64 bytes, of every kind of element. */
#include "show.h"
typedef float v2f __attribute__((vector_size(8)));
typedef float v16f __attribute__((vector_size(64)));
typedef double v2d __attribute__((vector_size(16)));
typedef double v4d __attribute__((vector_size(32)));
typedef int32_t v8i __attribute__((vector_size(32)));
typedef uint16_t v8s __attribute__((vector_size(16)));
typedef uint8_t v16b __attribute__((vector_size(16)));
#define LINE __attribute__((aligned(64)))
int main(void) {
    float f[64] LINE;
    double d[16] LINE;
    int32_t i32[32] LINE;
    uint16_t u16[16] LINE;
    uint8_t u8[64] LINE;
    for (int i = 0; i < 64; ++i) {
        f[i] = i * 0.25f;
        u8[i] = i * 5;
        i32[i % 32] = i * i - 100;
        u16[i % 16] = i * 1000;
        d[i % 16] = 1.0 / (i + 1);
    }
    #pragma omp target parallel map(tofrom: f, d, i32, u16, u8) num_threads(2)
    #pragma omp single
    {
        v2f x = *(v2f *)&f[2];
        *(v2f *)&f[2] = x * x + 1.0f;
        v16f *lines = (v16f *)f;
        lines[1] += lines[2];
        lines[3] = -lines[0];
        v2d y = *(v2d *)(d + 4);
        y /= (v2d){3.0, 7.0};
        *(v2d *)(d + 4) = y;
        v4d z = ((v4d *)d)[3];
        z[1] = z[0];
        ((v4d *)d)[2] = z + y[0];
        v8i q = *(v8i *)&i32[8];
        q = ((q << 2) ^ (q >> 3)) % 7;
        *(v8i *)&i32[8] = q;
        ((v8i *)i32)[2] = (q > 2) & q;
        v8s t = *(v8s *)u16;
        *(v8s *)&u16[8] = ~(t * t) + (uint16_t)1;
        v16b u = *(v16b *)&u8[16];
        *(v16b *)&u8[32] = ((u + u) / 3) | 1;
        int sum = 0;
        for (int i = 0; i < 8; ++i)
            sum += q[i] + t[i] * u[2 * i];
        i32[0] = sum;
    }
    SHOW("%g", f, 64);
    SHOW("%g", d, 16);
    SHOW("%d", i32, 32);
    SHOW("%d", u16, 16);
    SHOW("%d", u8, 64);
}
