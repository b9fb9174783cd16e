#include "show.h"
int main(void) {
    double sum = 0; float most = 0;
    double a[128];
    for (int i = 0; i < 128; ++i) a[i] = 1.0 / (1 + i);
    #pragma omp target parallel map(to: a) map(tofrom: sum, most) reduction(+: sum) reduction(max: most)
    {
        #pragma omp for
        for (int i = 0; i < 128; ++i) {
            sum += a[i] * a[i];
            if (a[i] > most) most = a[i];
        }
    }
    printf("%.8f %g\n", sum, most);
}
