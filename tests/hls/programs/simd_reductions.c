#include "show.h"
float f[64], tot[4];
int main(void) {
    for (int i = 0; i < 64; i++) f[i] = 1.0f / (i + 3);
    #pragma omp target parallel for map(to: f) map(tofrom: tot)
    for (int k = 0; k < 4; k++) {
        float s = 0, m = 0; int n = 0;
        #pragma omp simd reduction(+: s, n) reduction(max: m)
        for (int i = 0; i < 64; i++) { s += f[i] * k; n += i; m = f[i] > m ? f[i] : m; }
        tot[k] = s + n + m;
    }
    for (int i = 0; i < 4; i++) printf("%a ", tot[i]);
}
