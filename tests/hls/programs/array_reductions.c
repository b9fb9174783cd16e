#include "show.h"
#define BINS 12
int counts[BINS], data[96]; unsigned char most[4][3]; long product[5]; double sums[8];
int main(void) {
    int *shifted = malloc(20 * sizeof(int)), odd = 1;
    for (int i = 0; i < 96; ++i) data[i] = (i * 7919) % 101;
    for (int i = 0; i < 20; ++i) shifted[i] = 1000 + i;
    for (int i = 0; i < 5; ++i) product[i] = i + 1;
    for (int i = 0; i < BINS; ++i) counts[i] = i;
    #pragma omp target parallel for map(to: data) map(tofrom: counts, product) reduction(+: counts, odd) reduction(*: product[1:BINS / 4])
    for (int i = 0; i < 96; ++i) {
        counts[data[i] % BINS] += 2;
        if (i % 32 == 5) product[1 + i % 3] *= data[i] - 50;
        odd += data[i] & 1;
    }
    SHOW("%d", counts, BINS);
    SHOW("%ld", product, 5);
    printf("%d\n", odd);
}
