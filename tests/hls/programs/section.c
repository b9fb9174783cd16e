#include "show.h"
int main(void) {
    int a[30];
    for (int i = 0; i < 30; ++i) a[i] = i;
    #pragma omp target parallel for map(tofrom: a[10:12])
    for (int i = 10; i < 22; ++i) a[i] = -a[i];
    SHOW("%d", a, 30);
}
