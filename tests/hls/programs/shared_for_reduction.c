#include "show.h"
int main(void) {
    int total = 0, squares = 0, r[40];
    #pragma omp target parallel map(tofrom: total, squares) map(from: r)
    {
        #pragma omp for reduction(+: total)
        for (int i = 1; i <= 40; ++i) total += i;
        #pragma omp for
        for (int i = 0; i < 40; ++i) r[i] = total - i;
        #pragma omp for reduction(+: squares) schedule(static, 3)
        for (int i = 0; i < 40; ++i) squares += r[i] * r[i];
    }
    printf("%d %d\n", total, squares);
    SHOW("%d", r, 40);
}
