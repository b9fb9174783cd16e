#include "show.h"
int main(void) {
    int count = 0, last = 0, a[40];
    for (int i = 0; i < 40; ++i) a[i] = i * 13 % 17;
    #pragma omp target parallel for map(to: a) map(tofrom: count, last)
    for (int i = 0; i < 40; ++i) {
        #pragma omp critical (counting)
        {
            count += a[i];
            count ^= 0;
        }
        #pragma omp critical (largest)
        if (a[i] > last) last = a[i];
    }
    printf("%d %d\n", count, last);
}
