#include "show.h"
unsigned char text[200]; int bins[8];
int main(void) {
    for (int i = 0; i < 200; ++i) text[i] = i * i + 3 * i;
    #pragma omp target parallel map(to: text) map(tofrom: bins)
    {
        int own[8];
        for (int b = 0; b < 8; ++b) own[b] = 0;
        #pragma omp for nowait
        for (int i = 0; i < 200; ++i) ++own[text[i] >> 5];
        #pragma omp critical
        for (int b = 0; b < 8; ++b) bins[b] += own[b];
    }
    SHOW("%d", bins, 8);
}
