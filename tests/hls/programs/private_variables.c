#include "show.h"
int main(void) {
    int r[20], t = 3, u = 100, i;
    #pragma omp target parallel for map(from: r) private(t) firstprivate(u)
    for (i = 0; i < 20; ++i) {
        t = i * 2;
        u += 0 * i;
        r[i] = t + u;
    }
    SHOW("%d", r, 20);
    printf("%d %d\n", t, u);
}
