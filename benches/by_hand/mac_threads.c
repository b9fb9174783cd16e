/* The sum of the products of two arrays: a loop, its iterations divided among threads. */
#include <stdio.h>

#define N 1024

static int a[N], b[N], sum;

static void mac(void) {
    #pragma omp target parallel for map(to: a, b) map(tofrom: sum) reduction(+: sum) num_threads(8)
    for (int i = 0; i < N; i++)
        sum += a[i] * b[i];
}

int main(void) {
    for (int i = 0; i < N; i++) {
        a[i] = 3 * i - 1000;
        b[i] = 77 - i;
    }
    mac();
    printf("%d\n", sum);
}
