#include "show.h"
int main(void) {
    int seed = 0, done = 0, a[16];
    #pragma omp target parallel map(tofrom: seed, done) map(from: a)
    {
        #pragma omp single
        seed = 99;
        #pragma omp for
        for (int i = 0; i < 16; ++i) a[i] = seed + i;
        #pragma omp master
        done = a[15];
    }
    SHOW("%d", a, 16);
    printf("%d %d\n", seed, done);
}
