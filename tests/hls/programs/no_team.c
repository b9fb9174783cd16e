#include "show.h"
enum { LARGE = 0 };
#define IS_LARGE 0
int a[20];
int main(void) {
    int few = 2;
    #pragma omp target if(target: few ? 1 : 0) map(tofrom: a)
    #pragma omp parallel if(IS_LARGE) num_threads(4)
    {
        #pragma omp for nowait
        for (int i = 0; i < 20; ++i) a[i] += i + 100 * omp_get_thread_num() + 1000 * omp_get_num_threads();
    }
    SHOW("%d", a, 20);
}
