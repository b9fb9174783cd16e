#include "show.h"
int m[5][7], n[4][3][2];
int main(void) {
    #pragma omp target parallel map(tofrom: m, n)
    {
        #pragma omp for collapse(2) schedule(static, 3)
        for (int i = 0; i < 5; ++i)
            for (int j = 6; j >= 0; --j)
                m[i][j] += i * 10 + j;
        #pragma omp for collapse(3) schedule(static, 1)
        for (int i = 3; i >= 0; --i)
            for (long j = 0; j < 3; ++j)
                for (unsigned k = 0; k != 2; ++k) {
                    if (i == 2) continue;
                    n[i][j][k] = i * 100 + (int)j * 10 + k;
                }
        #pragma omp for collapse(2) schedule(static, 100)
        for (int i = 0; i < 5; ++i)
            for (int j = 0; j < 7; j += 3)
                m[i][j] *= 2;
        #pragma omp for collapse(2) schedule(static, 2)
        for (int i = 0; i < 5; ++i)
            for (int j = 3; j < 3; ++j)
                m[i][j] = -1;
    }
    SHOW("%d", &m[0][0], 35);
    SHOW("%d", &n[0][0][0], 24);
}
