#include "show.h"
#include <math.h>
float a[20], r[20]; double b[20], s[20];
int main(void) {
    for (int i = 0; i < 20; ++i) { a[i] = (i - 9) * 0.7f; b[i] = (i - 7) * 1e-3; }
    #pragma omp target parallel for map(to: a, b) map(from: r, s)
    for (int i = 0; i < 20; ++i) {
        r[i] = sqrtf(fabsf(a[i])) / (1.0f + a[i] * a[i]) - -a[i];
        s[i] = sqrt(fabs(b[i])) / (b[i] + 3.0) - b[i] * b[i] + a[i];
    }
    SHOW("%.9g", r, 20); SHOW("%.17g", s, 20);
}
