#include "show.h"
static float square(float x) { return x * x; }
static float norm(float x, float y) { return square(x) + square(y); }
static void rotate(float *x, float *y) { float t = *x; *x = -*y; *y = t; }
float r[16];
int main(void) {
    #pragma omp target parallel for map(from: r)
    for (int i = 0; i < 16; ++i) {
        float x = i, y = i - 3.5f;
        for (int k = 0; k < i % 4; ++k) rotate(&x, &y);
        r[i] = norm(x, square(y)) + x;
    }
    SHOW("%g", r, 16);
}
