#include "show.h"
int r[12];
int main(void) {
    #pragma omp target parallel for map(from: r)
    for (int i = 0; i < 12; ++i) {
        int x = 0;
        #pragma unroll
        for (int k = 0; k < 8; ++k) {
            if (k == i) continue;
            if (k + x > 3 * i) break;
            x += k;
        }
        r[i] = x;
    }
    SHOW("%d", r, 12);
}
