#include "show.h"
int main(void) {
    int bins[5] = {0}; long sum = 0;
    #pragma omp target parallel for map(tofrom: bins, sum)
    for (int i = 0; i < 64; ++i) {
        #pragma omp atomic
        bins[i * i % 5]++;
        #pragma omp atomic update
        sum += i;
    }
    SHOW("%d", bins, 5);
    printf("%ld\n", sum);
}
