#include "show.h"
int a[48 * 48], b[512], r[48];
int main(void) {
    for (int i = 0; i < 48 * 48; ++i) a[i] = i * 7 % 512;
    for (int i = 0; i < 512; ++i) b[i] = i * 5 % 91;
    #pragma omp target parallel map(to: a, b) map(from: r)
    {
        int row[48];
        for (int i = omp_get_thread_num(); i < 48; i += omp_get_num_threads()) {
            for (int k = 0; k < 48; ++k) row[k] = a[i * 48 + k];
            int sum = 0;
            for (int k = 0; k < 1 + i % 24; ++k) sum += b[row[k] ^ k];
            r[i] = sum;
        }
    }
    SHOW("%d", r, 48);
}
