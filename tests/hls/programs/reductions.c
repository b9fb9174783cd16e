#include "show.h"
int main(void) {
    int n = 60, least = 1000, most = -1000, mask = -1, any = 0, odd = 0;
    long product = 1;
    int a[60];
    for (int i = 0; i < n; ++i) a[i] = (i * 37 + 11) % 101;
    #pragma omp target teams distribute parallel for map(to: a) reduction(min: least) \
        reduction(max: most) reduction(*: product) reduction(&: mask) reduction(|: any) reduction(^: odd)
    for (int i = 0; i < n; ++i) {
        if (a[i] < least) least = a[i];
        most = a[i] > most ? a[i] : most;
        product *= 2 * a[i] + 1;
        mask &= a[i] | 64;
        any |= 1 << a[i] % 30;
        odd ^= a[i];
    }
    printf("%d %d %ld %d %d %d\n", least, most, product, mask, any, odd);
}
