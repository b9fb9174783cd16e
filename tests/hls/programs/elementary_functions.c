#include "show.h"
#include <math.h>
#define COUNT 96
double x[COUNT], e[COUNT], l[COUNT], s[COUNT], c[COUNT], t[COUNT];
float fx[COUNT], fe[COUNT], fl[COUNT], fs[COUNT], fc[COUNT], ft[COUNT];
int main(void) {
    const double special[] = { 0.0, -0.0, INFINITY, -INFINITY, NAN, 1.0, -1.0, 5e-324, -5e-324, 709.7827128933841, -745.1332191019412,
        1e22, -1e300, 1e-30, 0.9999999999999999, 1.0000000000000002, 3.141592653589793, 88.72284, -103.97208, 16777216.0 };
    unsigned r = 2463534242u;
    for (int i = 0; i < COUNT; ++i) {
        r = r * 1664525 + 1013904223;
        x[i] = i < 20 ? special[i] : ldexp((int)r, (int)(r >> 9) % 40 - 50);
        fx[i] = (float)x[i];
    }
    #pragma omp target parallel for num_threads(2) map(to: x, fx) map(from: e, l, s, c, t, fe, fl, fs, fc, ft)
    for (int i = 0; i < COUNT; ++i) {
        e[i] = exp(x[i]); l[i] = log(x[i]); s[i] = sin(x[i]); c[i] = cos(x[i]); t[i] = tanh(x[i]);
        fe[i] = expf(fx[i]); fl[i] = logf(fx[i]); fs[i] = sinf(fx[i]); fc[i] = cosf(fx[i]); ft[i] = tanhf(fx[i]);
    }
    for (int i = 0; i < COUNT; ++i)
        printf("%.9g %.9g %.9g %.9g %.9g %.4g %.4g %.4g %.4g %.4g\n", e[i], l[i], s[i], c[i], t[i], fe[i], fl[i], fs[i], fc[i], ft[i]);
}
