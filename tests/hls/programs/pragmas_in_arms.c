#include "show.h"
#define N 24
int main(int argc, char **argv) {
    int a[N], odd = 0, even = 0;
    for (int i = 0; i < N; ++i)
        a[i] = i * 7 % 16;
    if (argc > 100)
        a[0] = 1;
    else
        #pragma omp target parallel map(tofrom: a, odd, even)
        #pragma omp for
        for (int i = 0; i < N; ++i)
            if (a[i] & 1)
                #pragma omp critical (odd)
                odd += a[i];
            else
                #pragma omp critical (even)
                {
                    even += i;
                    #pragma unroll
                    for (int j = 0; j < 3; ++j)
                        #pragma unroll 2
                        for (int k = 0; k < 4; ++k)
                            a[i] = a[i] * 3 + j * k;
                }
    printf("%d %d\n", odd, even);
    SHOW("%d", a, N);
}
