#include "show.h"
int steps[30];
int main(void) {
    #pragma omp target parallel for map(from: steps) schedule(static, 1)
    for (int i = 0; i < 30; ++i) {
        int n = i + 1, count = 0;
        while (n != 1) { n = n & 1 ? 3 * n + 1 : n / 2; ++count; }
        steps[i] = count;
    }
    SHOW("%d", steps, 30);
}
