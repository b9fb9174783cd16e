#include "show.h"
int even[40], odd[40];
int main(void) {
    #pragma omp target parallel for map(tofrom: even, odd)
    for (int i = 0; i < 40; ++i) {
        if (i & 1) odd[i] = i * 3;
        else { even[i] = i; if (i > 20) odd[i] = even[i - 0] + 1; }
    }
    SHOW("%d", even, 40); SHOW("%d", odd, 40);
}
