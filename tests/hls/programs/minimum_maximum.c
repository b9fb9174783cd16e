#include "show.h"
#include <math.h>
float a[16]; int b[16];
int main(void) {
    #pragma omp target parallel for map(from: a, b)
    for (int i = 0; i < 16; ++i) {
        float x = i * 0.5f - 3.0f, y = 4.0f - i;
        a[i] = fminf(x, y) + 2 * fmaxf(x, y) + fmaxf(x, 1.5f);
        b[i] = abs(i - 8) + (i < 5 ? i : 5) + (int)labs(-3L - i);
    }
    SHOW("%g", a, 16); SHOW("%d", b, 16);
}
