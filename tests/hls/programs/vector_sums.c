#include "show.h"
typedef double v2 __attribute__((vector_size(16)));
double a[96], r[4];
int main(void) {
    for (int i = 0; i < 96; ++i) a[i] = i * 0.3 - 7;
    #pragma omp target parallel for map(to: a) map(from: r)
    for (int i = 0; i < 4; ++i) {
        v2 sum = {0.0};
        v2 *row = (v2 *)&a[24 * i];
        for (int k = 0; k < 12; ++k) sum += row[k];
        r[i] = sum[0] - sum[1];
    }
    SHOW("%.17g", r, 4);
}
