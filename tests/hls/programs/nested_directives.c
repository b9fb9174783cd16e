#include "show.h"
int a[24];
int main(void) {
    int n = 24;
    #pragma omp target map(from: a)
    {
        #pragma omp parallel for num_threads(4)
        for (int i = 0; i < n; ++i) a[i] = n - i;
    }
    SHOW("%d", a, 24);
}
