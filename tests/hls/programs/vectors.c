#include "show.h"
typedef float v4 __attribute__((vector_size(16)));
float a[64], b[64], r[64];
int main(void) {
    for (int i = 0; i < 64; ++i) { a[i] = i; b[i] = 64 - i; }
    #pragma omp target parallel for map(to: a, b) map(from: r)
    for (int i = 0; i < 64; i += 4) {
        v4 x = *(v4 *)&a[i], y = *(v4 *)&b[i];
        v4 z = x * y + 2.0f * x - y / 4.0f;
        z[1] = -z[1];
        z[i / 4 & 3] += 1000.0f;
        *(v4 *)&r[i] = z;
    }
    SHOW("%g", r, 64);
}
