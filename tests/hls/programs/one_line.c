#include "show.h"
int a[40], b[40];
int main(void) {
    for (int i = 0; i < 40; ++i) a[i] = i * i - 300;
    #pragma omp target parallel for map(to: a) map(from: b)
    for (int i = 0; i < 40; ++i) b[i] = a[i] / 7 + a[i] % 5;
    SHOW("%d", b, 40);
}
