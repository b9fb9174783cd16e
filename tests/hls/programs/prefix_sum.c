#include "show.h"
#define N 32
int x[2][N];
int main(void) {
    for (int i = 0; i < N; ++i) x[0][i] = i * 7 % 10;
    #pragma omp target parallel map(tofrom: x)
    {
        int from = 0;
        for (int step = 1; step < N; step *= 2) {
            #pragma omp for
            for (int i = 0; i < N; ++i)
                x[1 - from][i] = x[from][i] + (i >= step ? x[from][i - step] : 0);
            from = 1 - from;
        }
    }
    SHOW("%d", x[1], N);
}
