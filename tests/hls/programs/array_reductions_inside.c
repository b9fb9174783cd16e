#include "show.h"
int data[96]; unsigned char most[4][3]; double sums[8]; int bits[3] = { 255, 127, 1023 };
int main(void) {
    int *shifted = malloc(20 * sizeof(int));
    for (int i = 0; i < 96; ++i) data[i] = (i * 7919) % 101;
    for (int i = 0; i < 20; ++i) shifted[i] = 1000 + i;
    #pragma omp target parallel map(to: data) map(tofrom: most, sums, bits, shifted[0:20])
    {
        for (int round = 0; round < 2; ++round) {
            #pragma omp for reduction(max: most) reduction(+: sums[0:8], shifted[4:6]) reduction(&: bits[:3])
            for (int i = round; i < 96; ++i) {
                int r = i % 4, c = i % 3;
                if (data[i] > most[r][c]) most[r][c] = data[i];
                sums[i & 7] += 0.5 * data[i];
                shifted[4 + i % 6] -= 1;
                bits[c] &= ~(1 << (i % 5 + round));
            }
            #pragma omp for
            for (int i = 0; i < 4; ++i) shifted[i + 14] += shifted[i + 4] + most[i][0];
        }
    }
    for (int i = 0; i < 12; ++i) printf("%d ", most[i / 3][i % 3]);
    SHOW("%g", sums, 8);
    SHOW("%d", shifted, 20);
    SHOW("%d", bits, 3);
}
