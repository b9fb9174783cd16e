#include "show.h"
typedef float v4 __attribute__((vector_size(16)));
float a[64], r[16];
int main(void) {
    for (int i = 0; i < 64; ++i) a[i] = i % 9;
    #pragma omp target parallel for map(to: a) map(from: r)
    for (int b = 0; b < 4; ++b) {
        v4 rows[4];
        for (int i = 0; i < 4; ++i) rows[i] = *(v4 *)&a[16 * b + 4 * i];
        for (int i = 0; i < 4; ++i) rows[i][3 - i] *= 10.0f;
        for (int j = 0; j < 4; ++j) {
            float sum = 0;
            for (int i = 0; i < 4; ++i) sum += rows[i][j];
            r[4 * b + j] = sum;
        }
    }
    SHOW("%g", r, 16);
}
