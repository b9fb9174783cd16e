#include "show.h"
int a[27];
int main(void) {
    #pragma omp target parallel for map(from: a)
    for (int i = 0; i < 27; ++i) {
        int x = i % 3, y = i / 3 % 3, z = i / 9;
        _Bool both = x && y;
        a[i] = (both || !z) + 2 * (x == y && y != z) + 4 * (x < y ? y <= z : z > x) + 8 * !!(x | z);
        a[i] += ~x & 15;
    }
    SHOW("%d", a, 27);
}
