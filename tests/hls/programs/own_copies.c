#include "show.h"
int table[16] = { 3, 1, 4, 1, 5, 9, 2, 6 }; int scratch[16], out[64], x = 4; float weights[2][3] = { { 1, 2 }, { 3 } };
struct range { short low, high; } ends[3] = { { 1, 9 }, { -4, 4 } };
int main(void) {
    int y = 9;
    #pragma omp target parallel firstprivate(table, weights, ends) private(scratch) map(tofrom: x, y) map(from: out)
    {
        int me = omp_get_thread_num();
        for (int i = 0; i < 16; ++i) { table[i] += me; scratch[i] = 2 * table[i]; }
        weights[me & 1][2] += me;
        ends[2].high = ends[1].low + me;
        #pragma omp for private(x) firstprivate(y)
        for (int i = 0; i < 64; ++i) {
            x = scratch[i & 15];
            y += x;
            out[i] = x + table[15 - (i & 15)] - (y > 100) + (int)weights[i & 1][2] + ends[2].high - 2 * me;
        }
        #pragma omp single
        { x += 1; y += 2; }
    }
    SHOW("%d", out, 64);
    printf("%d %d %d %g\n", x, y, table[2], weights[0][2]);
}
