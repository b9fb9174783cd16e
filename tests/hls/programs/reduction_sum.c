#include "show.h"
int main(void) {
    int a[100], sum = 7;
    for (int i = 0; i < 100; ++i) a[i] = i * i;
    #pragma omp target parallel for map(to: a) map(tofrom: sum) reduction(+: sum)
    for (int i = 0; i < 100; ++i) sum += a[i];
    printf("%d\n", sum);
}
