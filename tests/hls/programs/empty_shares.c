#include "show.h"
int a[3];
int main(void) {
    int none = 0;
    #pragma omp target parallel map(tofrom: a)
    {
        #pragma omp for
        for (int i = 0; i < 3; ++i) a[i] = i + 1;
        #pragma omp for
        for (int i = 5; i < none; ++i) a[0] = 99;
    }
    SHOW("%d", a, 3);
}
