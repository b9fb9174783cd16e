#include "show.h"
int next[32], length[32];
int main(void) {
    for (int i = 0; i < 32; ++i) next[i] = i % 7 == 0 ? -1 : i - i % 7 / 2 - 1;
    #pragma omp target parallel for map(to: next) map(from: length)
    for (int i = 0; i < 32; ++i) {
        int at = i, n = 0;
        while (next[at] >= 0) { at = next[at]; ++n; }
        length[i] = n * 100 + at;
    }
    SHOW("%d", length, 32);
}
