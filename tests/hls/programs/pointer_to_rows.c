#include "show.h"
void add(float (*a)[8], float (*b)[8], int n) {
    #pragma omp target parallel for map(tofrom: a[0:n]) map(to: b[0:n])
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < 8; ++j) a[i][j] += b[i][7 - j];
}
int main(void) {
    float a[6][8], b[6][8];
    for (int i = 0; i < 48; ++i) { a[i / 8][i % 8] = i; b[i / 8][i % 8] = 0.5f * i; }
    add(a, b, 6);
    SHOW("%g", &a[0][0], 48);
}
