/* Output of the region, printed when it is over. */
#include "show.h"

enum { N = 12 };
int a[N];
long big = -(1L << 40);
float half = 0.5f;

static int squared(int x) {
    if (x == 3)
        printf("three: %s\n", "\"3\"\t100%");
    return x * x;
}

int main(void) {
    for (int i = 0; i < N; i++)
        a[i] = i;
    printf("begin\n");
#pragma omp target map(tofrom: a)
    {
        unsigned char letter = 'a';
        for (int i = 0; i < N; i++) {
            a[i] = squared(a[i]);
            printf("a[%2d] = %-5d %c %.3f %lx\n", i, a[i], letter++, half * i, big);
            if (i & 1)
                puts("odd");
            else if (i == 4)
                putchar('*'), putchar('\n');
        }
        fprintf(stderr, "%u %lu %d\n", -1u, ~0ul, (short)a[3]);
        fflush(stdout);
    }
    printf("end\n");
    SHOW("%d", a, N);
}
