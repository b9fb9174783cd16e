#include "show.h"
int a[37], b[37], c[37];
int main(void) {
    #pragma omp target parallel map(tofrom: a, b, c)
    {
        #pragma omp for schedule(static) nowait
        for (int i = 36; i >= 0; --i) a[i] = i;
        #pragma omp for schedule(static, 4)
        for (long i = 1; i <= 35; i += 3) b[i] = i;
        #pragma omp for schedule(static, 1)
        for (unsigned i = 0; i < 37; i += 2) c[i] = a[i] + 1;
    }
    SHOW("%d", a, 37); SHOW("%d", b, 37); SHOW("%d", c, 37);
}
