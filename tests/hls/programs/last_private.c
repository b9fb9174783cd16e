#include "show.h"
struct pair { int a; double b; };
int a[50]; float f[50];
int main(void) {
    int last = -1, step = 100, end = 0, kept = 7, chunked = 3, nothing = 11, first = 5, seen = 0, j = 0;
    struct pair both = { 1, 2 };
    for (int i = 0; i < 50; ++i) { a[i] = i * i % 17; f[i] = 0.25f * i; }
    #pragma omp target parallel map(to: a) map(tofrom: f, last, end, kept, chunked, nothing, first, both, seen, j)
    {
        int i, k;
        #pragma omp for lastprivate(last, both)
        for (i = 0; i < 47; i++) {
            last = a[i] + 1;
            f[i] += last;
            both = (struct pair){ last, f[i] };
        }
        #pragma omp for schedule(static, 3) lastprivate(chunked)
        for (i = 40; i > 3; i -= 4) { chunked = i; f[i] *= 2; }
        #pragma omp for schedule(static, 1) lastprivate(end)
        for (end = 2; end < 31; end += 5) f[end] += 1;
        #pragma omp for collapse(2) lastprivate(kept, j)
        for (i = 0; i < 5; i++)
            for (j = 9; j >= 0; j -= 2) { kept = 10 * i + j; f[kept] += j; }
        #pragma omp for lastprivate(nothing)
        for (i = 5; i < 5; i++) nothing = 3;
        #pragma omp for firstprivate(first) lastprivate(first)
        for (i = 0; i < 9; i++) if (i == 8) first += 20;
        #pragma omp for
        for (k = 0; k < 8; k++) f[k] += first + last;
        #pragma omp single
        seen = last;
    }
    SHOW("%g", f, 50);
    printf("%d %d %d %d %d %d %d %d %d %g\n", last, end, kept, chunked, nothing, first, seen, j, both.a, both.b);
}
