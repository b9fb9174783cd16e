#include "show.h"
static const int squares[8] = {0, 1, 4, 9, 16, 25, 36, 49};
static const float scale = 0.5f;
float r[8];
int main(void) {
    #pragma omp target parallel for map(from: r)
    for (int i = 0; i < 8; ++i) r[i] = squares[7 - i] * scale;
    SHOW("%g", r, 8);
}
