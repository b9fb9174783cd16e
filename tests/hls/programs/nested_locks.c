#include "show.h"
int x, y, z, w, taken[8], next;
static int more(int *p) {
    #pragma omp atomic
    (*p)++;
    return 2;
}
int main(void) {
    #pragma omp target parallel map(tofrom: x, y, z, w, taken, next)
    {
        int mine;
        #pragma omp critical(atomic)
        {
            #pragma omp critical(critical)
            {
                #pragma omp critical
                {
                    more(&x);
                    y += x > 0;
                }
            }
            #pragma omp atomic update
            z = 3 + z;
        }
        #pragma omp atomic
        w += more(&x);
        #pragma omp atomic capture
        mine = next++;
        taken[mine] = 1;
        #pragma omp atomic capture acq_rel
        { mine = next; next -= 1; }
    }
    printf("%d %d %d %d %d\n", x, y, z, w, next);
    SHOW("%d", taken, 8);
}
