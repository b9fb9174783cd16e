#include "show.h"
int main(void) {
    int a = 5, b = 7, c = 0;
    #pragma omp target map(from: c)
    c = a * b - (a << 2);
    printf("%d\n", c);
}
