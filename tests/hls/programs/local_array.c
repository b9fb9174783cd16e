#include "show.h"
int r[8];
int main(void) {
    #pragma omp target parallel for map(from: r)
    for (int i = 0; i < 8; ++i) {
        int fib[24];
        fib[0] = i; fib[1] = 1;
        for (int k = 2; k < 24; ++k) fib[k] = (fib[k - 1] + fib[k - 2]) % 10007;
        r[i] = fib[23];
    }
    SHOW("%d", r, 8);
}
