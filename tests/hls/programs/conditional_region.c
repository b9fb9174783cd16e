#include "show.h"
#define LEAST 8
int a[40], runs[3];
static int step(int n) {
    int used = -1;
    #pragma omp target parallel for if(n > LEAST) map(tofrom: a[0:40], used) lastprivate(used)
    for (int i = 0; i < n; ++i) { a[i] += i * n; used = omp_get_num_threads() > 0 ? i : 0; }
    return used;
}
int main(void) {
    runs[0] = step(4);  /* too little for hardware */
    runs[1] = step(33);
    runs[2] = step(0);
    SHOW("%d", a, 40);
    SHOW("%d", runs, 3);
}
