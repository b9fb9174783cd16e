#include "show.h"
struct big { double m[20][20]; short k; } a, b; struct mid { float v[24]; } x[4], y[4]; float o[8];
static float sum(struct mid m, struct mid n) { float s = 0; m.v[3] *= 2; for (int i = 0; i < 24; i++) s += m.v[i] - n.v[i] / 4; return s; }
float s2; 
int main(void) {
    for (int i = 0; i < 400; i++) a.m[0][i] = i; a.k = 5;
    for (int i = 0; i < 96; i++) x[i / 24].v[i % 24] = i;
    #pragma omp target parallel map(tofrom: a, b, x, y, o, s2)
    {
        struct big c = a; struct mid t = x[1], u;
        u = t; u.v[2] = 100;
        #pragma omp barrier
        #pragma omp for
        for (int i = 0; i < 4; i++) { y[i] = i & 1 ? u : t; o[i] = sum(x[i], y[i]) + sum(u, t); x[i] = u; }
        #pragma omp single
        { c.m[1][1] = -1; b = c; b.k++; }
        #pragma omp for simd reduction(+: s2)
        for (int i = 0; i < 40; i++) s2 += i * 0.37f;
    }
    for (int i = 0; i < 8; i++) printf("%g ", o[i]); printf("%g %d %g\n", b.m[1][1], b.k, x[2].v[2]);
}
