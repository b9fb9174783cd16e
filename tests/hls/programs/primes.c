#include "show.h"
static int is_prime(int n) {
    if (n < 2) return 0;
    for (int d = 2; d * d <= n; ++d)
        if (n % d == 0) return 0;
    return 1;
}
int main(void) {
    int p[60];
    #pragma omp target parallel for map(from: p)
    for (int i = 0; i < 60; ++i) p[i] = is_prime(i);
    SHOW("%d", p, 60);
}
