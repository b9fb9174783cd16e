#include "show.h"
#include <math.h>
#define COUNT 192
double d[COUNT], down[COUNT], up[COUNT], cut[COUNT], near[COUNT], even[COUNT], apart[COUNT], least[COUNT];
float f[COUNT], fdown[COUNT], fup[COUNT], fcut[COUNT], fnear[COUNT], feven[COUNT], fsign[COUNT], fmost[COUNT];
long whole[COUNT], fwhole[COUNT]; int kinds[COUNT];
int main(void) {
    const double special[] = { 0.0, -0.0, INFINITY, -INFINITY, NAN, 0.5, -0.5, 1.5, 2.5, -2.5, 0.49999999999999994,
        4503599627370495.5, 4503599627370496.5, -4503599627370497.0, 9007199254740993.0, 5e-324, -5e-324, 1e308,
        0.9999999999999999, -0.9999999999999999, 1.0, -1.0, 8388607.5, -8388607.5, 8388608.0, 4194303.75,
        2147483647.5, -2147483648.5, 9.2e18, -1e19, 1e-40, 3.9999998 };
    unsigned x = 12345;
    for (int i = 0; i < COUNT; ++i) {
        x = x * 1664525 + 1013904223;
        d[i] = i < 32 ? special[i] : ldexp((int)x, (int)(x >> 9) % 60 - 34);
        f[i] = i < 32 ? (float)special[i] : i < 96 ? (i - 64) / 4.0f : (float)d[i];
    }
    #pragma omp target parallel for map(to: d, f) map(from: down, up, cut, near, even, apart, least, fdown, fup, fcut, fnear, feven, fsign, fmost, whole, fwhole, kinds)
    for (int i = 0; i < COUNT; ++i) {
        double a = d[i]; float b = f[i], other = f[(i * 7 + 3) % COUNT];
        down[i] = floor(a); up[i] = ceil(a); cut[i] = trunc(a); near[i] = round(a); even[i] = rint(a);
        fdown[i] = floorf(b); fup[i] = ceilf(b); fcut[i] = truncf(b); fnear[i] = roundf(b); feven[i] = nearbyintf(b);
        apart[i] = fdim(a, d[COUNT - 1 - i]);
        least[i] = fmin(a, d[(i + 31) % COUNT]) + copysign(3, a);
        fsign[i] = copysignf(b, other); fmost[i] = fmaxf(b, other) - fminf(other, fabsf(b));
        whole[i] = lround(a) ^ llrint(a); fwhole[i] = lrintf(b) + 3 * lroundf(b);
        kinds[i] = (isgreater(a, b) | isless(b, other) << 1 | isunordered(b, a) << 2 | isnormal(b) << 3)
            + ((signbit(a) != 0) << 4 | (signbit(b) != 0) << 5 | islessgreater(b, other) << 6 | isgreaterequal(a, b) << 7)
            + (islessequal(other, b) << 8 | isnormal(a) << 9);
    }
    for (int i = 0; i < COUNT; ++i)
        printf("%a %a %a %a %a %a %x\n", down[i], cut[i], near[i], even[i], apart[i], fsign[i], kinds[i]);
}
