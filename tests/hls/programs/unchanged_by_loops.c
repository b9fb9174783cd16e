#include "show.h"
#include <string.h>
struct both { int a; float b; } kept[4]; float out[6]; int more[4];
static int read_only(int *x, int k) { return *x + k; }
int main(void) {
    #pragma omp target map(tofrom: kept, out, more)
    {
        struct both s = { 3, 9.5f };
        int x = 4, y = 100;
        for (int i = 0; i < 6; ++i) s.b += 1;
        for (int k = 2; k > 0; --k) memcpy(&kept[k], &s, sizeof s);
        for (int i = 0; i < 5; ++i) y -= x;
        for (int k = 0; k < 4; ++k) more[k] = read_only(&x, k) + read_only(&y, 0);
        for (int i = 0; i < 2; ++i) { out[i] = s.b; s = s; }
        out[3] = s.b + s.a; out[4] = y; out[5] = x;
    }
    SHOW("%g", out, 6); SHOW("%d", more, 4); printf("%d %g\n", kept[2].a, kept[1].b);
}
