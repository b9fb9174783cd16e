// Variables that grow with a loop, and loops that count in small types.
#include <stdio.h>

int main(void) {
    int a[64], b[64], at = 5, by_three = -7;
    short last;
    unsigned char small;
    long total = 0;
    for (int i = 0; i < 64; i++)
        a[i] = b[i] = i;
#pragma omp target parallel num_threads(3) map(tofrom: a, b, at, by_three, total, last, small)
    {
#pragma omp for linear(at) linear(by_three: 3) schedule(static, 5)
        for (int i = 2; i < 44; i += 2) {
            a[at] += by_three + i;
            at++;
            by_three += 3;
        }
#pragma omp for lastprivate(last) reduction(+: total) schedule(dynamic, 3)
        for (last = 40; last > -9; last -= 4)
            total += last;
#pragma omp for collapse(2) schedule(static, 2)
        for (small = 3; small < 200; small += 50)
            for (short j = 0; j < 5; j++)
                b[small / 50 * 16 + j] += small * j;
#pragma omp for simd linear(at: 2)
        for (long i = 0; i < 4; i++) {
            b[at] -= 9;
            at += 2;
        }
    }
    for (int i = 0; i < 64; i++)
        printf("%d %d\n", a[i], b[i]);
    printf("%d %d %ld %d\n", at, by_three, total, last);
}
