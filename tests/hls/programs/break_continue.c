#include "show.h"
int a[16], found[16];
int main(void) {
    for (int i = 0; i < 16; ++i) a[i] = i * 7 % 16;
    #pragma omp target parallel for map(to: a) map(from: found)
    for (int i = 0; i < 16; ++i) {
        int sum = 0, where = -1;
        for (int j = 0; j < 16; ++j) {
            if (a[j] == 3) continue;
            if (a[j] == i) { where = j; break; }
            sum += a[j];
        }
        found[i] = where * 1000 + sum;
    }
    SHOW("%d", found, 16);
}
