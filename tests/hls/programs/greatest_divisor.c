#include "show.h"
static int gcd(int a, int b) {
    while (b) { int t = a % b; a = b; b = t; }
    return a;
}
int g[25];
int main(void) {
    #pragma omp target parallel for map(from: g)
    for (int i = 0; i < 25; ++i) g[i] = gcd(i * 12 + 6, 90 - i);
    SHOW("%d", g, 25);
}
