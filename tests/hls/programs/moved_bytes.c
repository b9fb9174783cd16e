#include "show.h"
#include <string.h>
typedef float v4 __attribute__((vector_size(16)));
struct item { char tag; short low; double mass; } items[12], back[12];
float from[64] __attribute__((aligned(64))), to[64] __attribute__((aligned(64))); int grid[6][8], sums[8]; unsigned char text[40], marks[40]; unsigned bits[16]; long size = 40;
int main(void) {
    for (int i = 0; i < 64; ++i) from[i] = 0.5f * i;
    for (int i = 0; i < 12; ++i) { items[i].tag = 'a' + i; items[i].low = -i; items[i].mass = i / 4.0; }
    for (int i = 0; i < 48; ++i) grid[i / 8][i % 8] = i;
    for (int i = 0; i < 40; ++i) text[i] = i;
    #pragma omp target parallel map(to: from, items) map(tofrom: to, grid, sums, back, text, marks, bits, size) num_threads(2)
    {
        int me = omp_get_thread_num();
        float mine[16]; int row[8]; v4 lanes; unsigned word; struct item one, two; int kept[5] = { 1, 2, 3, 4, 5 };
        memcpy(mine, from + 16 * (me & 3), sizeof mine);
        memset(row, 0xff, sizeof row);
        if (me & 1) memcpy(row, grid[2], 4 * sizeof(int)); else memmove(&row[2], &grid[1][1], 3 * sizeof row[0]);
        for (int i = 0; i < 16; ++i) mine[i] += row[i & 7];
        #pragma omp barrier
        for (int k = me; k < 4; k += omp_get_num_threads()) {
            memcpy(&lanes, &from[4 * k], sizeof lanes);
            lanes += mine[k];
            memcpy(to + 4 * k, &lanes, sizeof(v4));
            memcpy(&word, &mine[k], sizeof word);
            bits[k] = word;
            float f = k; unsigned u;
            memcpy(&u, &f, sizeof f);
            bits[4 + k] = u;
            memcpy(&u, &text[5 * k + 1], 4);
            bits[8 + k] = u;
            memcpy(&one, &items[k], sizeof one);
            memset(&two, 0, sizeof two);
            two.mass = one.mass + k;
            memcpy(&back[2 * k], &two, sizeof(struct item));
            back[2 * k + 1] = one;
            memcpy(&marks[20 + 5 * k], &word, sizeof word);
            memmove(kept + 1, kept, 4 * sizeof *kept);
            sums[k] = kept[1] + 10 * kept[4] + 100 * kept[0];
        }
        #pragma omp barrier
        #pragma omp master
        {
            int whole[48], n = 6;
            memcpy(whole, grid, n * sizeof grid[0]);
            memmove(whole + 3, whole, sizeof(int) * (n + 34));
            memmove(whole, whole + 5, (size_t)size);
            memcpy(&grid[0][0], whole, sizeof whole);
            memset(to + 32, 0, (n + 2) * sizeof(float));
            memset(text, size, 3);
            memcpy(back + 8, items + 8, 4 * sizeof *items);
        }
    }
    SHOW("%g", to, 64); SHOW("%d", grid[0], 48); SHOW("%u", bits, 16); SHOW("%d", sums, 8); SHOW("%d", text, 40); SHOW("%d", marks, 40);
    for (int i = 0; i < 12; ++i) printf("%d %d %g\n", back[i].tag, back[i].low, back[i].mass);
}
