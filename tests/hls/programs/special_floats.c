#include "show.h"
#include <math.h>
float r[12]; int t[12];
int main(void) {
    float zero = 0.0f, big = 3e38f, tiny = 1e-40f;
    #pragma omp target parallel for map(from: r, t)
    for (int i = 0; i < 12; ++i) {
        float x = i == 0 ? 1.0f / zero : i == 1 ? -1.0f / zero : i == 2 ? big * 10.0f
            : i == 3 ? tiny : i == 4 ? tiny / 3.0f : i == 5 ? -zero : i == 6 ? big + big : INFINITY;
        r[i] = x;
        t[i] = (x > big) + 2 * (x == x) + 4 * (x < -big) + 8 * (x >= zero) + 16 * (x != tiny);
        t[i] += 32 * (isnan(x) ? 1 : 0) + 64 * isinf((double)x) + 1024 * isfinite(x - x);
    }
    SHOW("%g", r, 12); SHOW("%d", t, 12);
}
