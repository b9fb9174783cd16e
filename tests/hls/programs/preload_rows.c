#include "show.h"
int n = 24; int a[24 * 24], r[24];
int main(void) {
    for (int i = 0; i < n * n; ++i) a[i] = i % 19;
    #pragma omp target parallel map(to: a) map(from: r)
    {
        short narrow[24]; int tile[4][8];
        for (int i = omp_get_thread_num(); i < n; i += omp_get_num_threads()) {
            for (int y = 0; y < 4; ++y)
                for (int x = 0; x < 8; ++x) tile[y][x] = a[(i / 2 + y) * n + x + 3];
            for (int k = 0; k < i; ++k) narrow[k] = a[i * n + k];
            int sum = 0;
            for (int k = 0; k < i; ++k) sum += narrow[k] * tile[k & 3][k & 7];
            r[i] = sum;
        }
    }
    SHOW("%d", r, 24);
}
