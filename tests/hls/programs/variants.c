// Functions and directives that a context selects.
#include <stdio.h>

static int plain(int i) { return i; }
static int in_target(int i) { return i + 100; }
static int elsewhere(int i) { return i + 1000; }
static int farther(int i) { return i + 3; }
static int never(int i) { return i + 5; }
static int in_parallel(int i) { return i + 10000; }

#pragma omp declare variant(elsewhere) match(device={kind(gpu)})
#pragma omp declare variant(in_target) match(construct={target})
static int value(int i) { return -plain(i); }

#pragma omp declare variant(farther) match(construct={parallel, simd})
#pragma omp declare variant(in_parallel) match(construct={parallel}, implementation={vendor(gnu)})
#pragma omp declare variant(never) match(user={condition(0)})
static int other(int i) { return -2 * plain(i); }

int main(void) {
    int a[32], b[32], c[32];
    for (int i = 0; i < 32; i++)
        a[i] = b[i] = c[i] = 0;
#pragma omp target parallel map(tofrom: a, b, c) num_threads(3)
    {
#pragma omp for
        for (int i = 0; i < 32; i++)
            a[i] = value(i);
#pragma omp for
        for (int i = 0; i < 32; i++)
            b[i] = other(i);
#pragma omp metadirective when(device={arch("nvptx")}: master) \
    when(user={condition(0)}: single) default(for schedule(static, 2))
        for (int i = 0; i < 32; i++)
            c[i] = 3 * i;
#pragma omp metadirective when(device={kind(host)}: nothing) otherwise(barrier)
#pragma omp nothing
        ;
    }
    printf("%d %d %d\n", value(3), other(3), plain(3));
    for (int i = 0; i < 32; i++)
        printf("%d %d %d\n", a[i], b[i], c[i]);
}
