#include "show.h"
int main(void) {
    int seen[8] = {0}, count = 0;
    #pragma omp target parallel map(tofrom: seen, count)
    #pragma omp critical (all)
    {
        #pragma omp critical
        #pragma omp atomic
        count += 2;
        seen[omp_get_thread_num()] = omp_get_num_threads();
    }
    printf("%d\n", count);
    SHOW("%d", seen, 8);
}
