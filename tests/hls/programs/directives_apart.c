#include "show.h"
#define N 19
int main(void) {
    int a[N], s = 0, idle = 7;
    for (int i = 0; i < N; ++i)
        a[i] = i * i;
    #pragma omp target map(tofrom: a, s, idle)
    #pragma omp teams num_teams(1) reduction(+: s)
    #pragma omp distribute parallel for reduction(+: s) reduction(max: idle)
    for (int i = 0; i < N; ++i) {
        a[i] += 3;
        s += a[i] - i;
    }
    printf("%d %d\n", s, idle);
    SHOW("%d", a, N);
}
