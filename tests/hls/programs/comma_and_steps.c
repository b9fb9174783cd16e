#include "show.h"
int r[12];
int main(void) {
    #pragma omp target parallel for map(from: r)
    for (int n = 0; n < 12; ++n) {
        int sum = 0;
        for (int i = 0, j = 20; i < j; i += 2, j--) sum += i * j;
        for (int i = n; i-- > 0;) sum ^= i << 2;
        int k = n;
        sum += k++ * 2 + ++k - k--;
        r[n] = (sum += 5, sum) - k;
    }
    SHOW("%d", r, 12);
}
