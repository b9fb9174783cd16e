#include "show.h"
int next[64], end[8];
int main(void) {
    for (int i = 0; i < 64; ++i) next[i] = (i * 5 + 17) % 64;
    #pragma omp target parallel for map(to: next) map(from: end)
    for (int t = 0; t < 8; ++t) {
        int at = t;
        for (int k = 0; k < 40; ++k) at = next[at];
        end[t] = at;
    }
    SHOW("%d", end, 8);
}
