#include "show.h"
int main(void) {
    int a[32], r[4];
    for (int i = 0; i < 32; ++i) a[i] = (i * 11) % 32;
    #pragma omp target parallel for map(tofrom: a) map(from: r)
    for (int i = 0; i < 4; ++i) {
        int *low = &a[8 * i], *high = &a[8 * i + 7];
        while (low < high) {
            int t = *low;
            *low++ = *high;
            *high-- = t;
        }
        r[i] = (int)(high - a);
    }
    SHOW("%d", a, 32);
    SHOW("%d", r, 4);
}
