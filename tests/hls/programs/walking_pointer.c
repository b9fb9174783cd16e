#include "show.h"
int main(void) {
    int a[64], sums[8];
    for (int i = 0; i < 64; ++i) a[i] = i ^ 21;
    #pragma omp target parallel for map(to: a) map(from: sums)
    for (int i = 0; i < 8; ++i) {
        const int *p = a + 8 * i, *end = p + 8;
        int sum = 0;
        while (p < end) sum += *p++;
        sums[i] = sum;
    }
    SHOW("%d", sums, 8);
}
