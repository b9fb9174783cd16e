#include "show.h"
typedef float v4 __attribute__((vector_size(16)));
static v4 twice(v4 x) { return x + x; }
int main(void) {
    int a[30], t = 5, scale = 3;
    float r[30];
    #pragma omp target parallel map(from: a, r)
    {
        #pragma omp for private(t) firstprivate(scale)
        for (int i = 0; i < 30; ++i) {
            a[i] = -1;
            r[i] = twice((v4){i, 2.0f, 3.0f})[i & 3];
            if (i % 4 == 1) continue;
            t = i * scale;
            scale += 0;
            if (t > 60) { a[i] = 60; continue; }
            a[i] = t;
        }
    }
    SHOW("%d", a, 30);
    SHOW("%g", r, 30);
    printf("%d %d\n", t, scale);
}
