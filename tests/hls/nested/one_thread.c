/* A parallel loop in a region of one thread. */
#include <stdio.h>
int a[30], s = 4;
int main(void) {
#pragma omp target map(tofrom: a, s)
    {
        int base = 7, own[4] = {0};
#pragma omp parallel for num_threads(2) reduction(+: s)
        for (int j = 0; j < 30; j++) {
            a[j] = base + j;
            s += j;
        }
#pragma omp parallel for num_threads(2) reduction(+: own)
        for (int j = 0; j < 30; j++)
            own[j % 4] += j;
        a[0] = s + own[1];
        a[1] = own[2];
    }
    for (int i = 0; i < 30; i++)
        printf("%d ", a[i]);
}
