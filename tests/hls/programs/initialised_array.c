#include "show.h"
int r[10];
int main(void) {
    #pragma omp target parallel for map(from: r)
    for (int i = 0; i < 10; ++i) {
        int primes[8] = {2, 3, 5, 7, 11, 13, i};
        short grid[2][3] = {{1, 2, 3}, {4, 5}};
        int x = 0;
        for (int k = 0; k < 8; ++k) x = x * 3 + primes[k];
        r[i] = x + grid[i & 1][i % 3];
    }
    SHOW("%d", r, 10);
}
