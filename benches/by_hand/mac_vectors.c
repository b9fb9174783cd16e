/* The sum of the products of two arrays: a line of memory at a time, each thread its own lines. */
#include <stdio.h>
#include <omp.h>

#define N 1024
#define WIDE 16

typedef int line __attribute__((vector_size(4 * WIDE)));

static line a[N / WIDE], b[N / WIDE];
static int sum;

static void mac(void) {
    #pragma omp target parallel map(to: a, b) map(tofrom: sum) num_threads(8)
    {
        line total = {0};
        for (int i = omp_get_thread_num(); i < N / WIDE; i += omp_get_num_threads())
            total += a[i] * b[i];
        int own = 0;
        for (int k = 0; k < WIDE; k++)
            own += total[k];
        #pragma omp atomic
        sum += own;
    }
}

int main(void) {
    for (int i = 0; i < N; i++) {
        a[i / WIDE][i % WIDE] = 3 * i - 1000;
        b[i / WIDE][i % WIDE] = 77 - i;
    }
    mac();
    printf("%d\n", sum);
}
