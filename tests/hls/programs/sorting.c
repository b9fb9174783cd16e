#include "show.h"
int a[48];
int main(void) {
    for (int i = 0; i < 48; ++i) a[i] = i * 29 % 53;
    #pragma omp target parallel for map(tofrom: a)
    for (int block = 0; block < 6; ++block) {
        int own[8];
        for (int i = 0; i < 8; ++i) own[i] = a[8 * block + i];
        for (int i = 1; i < 8; ++i) {
            int x = own[i], j = i;
            while (j > 0 && own[j - 1] > x) { own[j] = own[j - 1]; --j; }
            own[j] = x;
        }
        for (int i = 0; i < 8; ++i) a[8 * block + i] = own[i];
    }
    SHOW("%d", a, 48);
}
