#include "show.h"
int a[10];
int main(void) {
    #pragma omp target map(tofrom: a)
    {
        int x = 1, y = 1;
        for (int i = 0; i < 10; ++i) { a[i] = x; int t = x + y; x = y; y = t; }
    }
    SHOW("%d", a, 10);
}
