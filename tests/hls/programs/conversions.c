#include "show.h"
double d[16]; float f[16]; int i32[16]; unsigned u32[16]; long l[16]; short s[16];
int main(void) {
    for (int i = 0; i < 16; ++i) d[i] = (i - 8) * 1234.56789 / (1 + i);
    #pragma omp target parallel for map(tofrom: d) map(from: f, i32, u32, l, s)
    for (int i = 0; i < 16; ++i) {
        f[i] = d[i];
        i32[i] = d[i] * 3;
        u32[i] = (unsigned)(f[i] < 0 ? -f[i] : f[i]);
        l[i] = (long)(d[i] * 1e12);
        s[i] = (short)i32[i];
        d[i] = (double)l[i] + (double)u32[i] + (float)i32[i] + (float)(unsigned char)s[i];
    }
    SHOW("%.17g", d, 16); SHOW("%g", f, 16); SHOW("%d", i32, 16); SHOW("%u", u32, 16);
    SHOW("%ld", l, 16); SHOW("%d", s, 16);
}
