// A function whose own variable lies in a memory, called inside an expression.
#include <stdio.h>
int put(int *p, int n) { int i; for (i = 0; i < n; i++) p[i] = i + n; return p[n - 1]; }
int f(int v) { int t; int r = put(&t, 1); return r + t + v; }
int main(void) {
    int a[8];
    #pragma omp target parallel num_threads(2) map(from: a)
    {
        int i;
        #pragma omp for
        for (i = 0; i < 8; i++) a[i] = f(i) + 1;
    }
    for (int i = 0; i < 8; i++) printf("%d\n", a[i]);
    return 0;
}
