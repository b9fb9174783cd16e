#include "show.h"
int a[32], b[32];
int main(void) {
    for (int i = 0; i < 32; ++i) a[i] = i;
    #pragma omp target parallel map(tofrom: a, b)
    {
        int me = omp_get_thread_num(), team = omp_get_num_threads();
        for (int round = 0; round < 3; ++round) {
            for (int i = me; i < 32; i += team) b[i] = a[(i + 5) % 32] + round;
            #pragma omp barrier
            for (int i = me; i < 32; i += team) a[i] = b[(i + 1) % 32] * 2;
            #pragma omp barrier
        }
    }
    SHOW("%d", a, 32);
}
