/* The sum of the products of two arrays: a loop, one thread. */
#include <stdio.h>

#define N 1024

static int a[N], b[N], sum;

static void mac(void) {
    #pragma omp target map(to: a, b) map(from: sum)
    {
        int total = 0;
        for (int i = 0; i < N; i++)
            total += a[i] * b[i];
        sum = total;
    }
}

int main(void) {
    for (int i = 0; i < N; i++) {
        a[i] = 3 * i - 1000;
        b[i] = 77 - i;
    }
    mac();
    printf("%d\n", sum);
}
