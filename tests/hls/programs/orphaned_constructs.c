#include "show.h"
int a[30], glob = 4, tot = 1; double acc;
static void part(void) {
    #pragma omp for lastprivate(glob) reduction(+: tot)
    for (int i = 0; i < 30; i++) { glob = a[i]; tot += i; }
}
int main(void) {
    for (int i = 0; i < 30; i++) a[i] = 3 * i;
    #pragma omp target parallel map(tofrom: a, glob, tot)
    { part(); a[omp_get_thread_num()] += glob; }
    printf("%d %d %d\n", glob, tot, a[0]);
}
