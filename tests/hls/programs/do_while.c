#include "show.h"
int r[20];
int main(void) {
    #pragma omp target parallel for map(from: r)
    for (int i = 0; i < 20; ++i) {
        int x = i * 37, digits = 0, reversed = 0;
        do { reversed = reversed * 10 + x % 10; x /= 10; ++digits; } while (x > 0);
        r[i] = reversed * 10 + digits;
    }
    SHOW("%d", r, 20);
}
