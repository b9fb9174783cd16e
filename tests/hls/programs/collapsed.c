#include "show.h"
int m[5][7];
int main(void) {
    #pragma omp target teams distribute parallel for collapse(2) map(from: m)
    for (int i = 0; i < 5; ++i)
        for (int j = 6; j >= 0; --j)
            m[i][j] = i * 10 + j;
    SHOW("%d", &m[0][0], 35);
}
