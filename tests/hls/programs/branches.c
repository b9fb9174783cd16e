#include "show.h"
int a[50];
int main(void) {
    #pragma omp target parallel for map(from: a)
    for (int i = 0; i < 50; ++i) {
        int x = i;
        if (x % 15 == 0) x = -15;
        else if (x % 5 == 0) { x = -5; if (i > 20) x *= 2; }
        else if (x % 3 == 0) x = -3;
        a[i] = x;
    }
    SHOW("%d", a, 50);
}
