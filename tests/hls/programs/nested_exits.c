#include "show.h"
static int find(const int *m, int wanted, int *steps) {
    for (int i = 0; i < 6; ++i)
        for (int j = 0; j < 6; ++j) {
            ++*steps;
            if (m[i * 6 + j] == wanted) return i * 10 + j;
            if (m[i * 6 + j] > 30) break;
        }
    return -1;
}
int m[36], r[12], s[12];
int main(void) {
    for (int i = 0; i < 36; ++i) m[i] = i * 5 % 36;
    #pragma omp target parallel for map(to: m) map(from: r, s)
    for (int k = 0; k < 12; ++k) {
        int steps = 0;
        r[k] = find(m, k * 3, &steps);
        s[k] = steps;
    }
    SHOW("%d", r, 12); SHOW("%d", s, 12);
}
