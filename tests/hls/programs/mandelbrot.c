#include "show.h"
#define W 12
#define H 8
unsigned char m[H][W];
int main(void) {
    #pragma omp target teams distribute parallel for collapse(2) map(from: m)
    for (int y = 0; y < H; ++y)
        for (int x = 0; x < W; ++x) {
            float cr = x * 3.0f / W - 2.0f, ci = y * 2.0f / H - 1.0f, r = 0, i = 0;
            int n = 0;
            for (; n < 40 && r * r + i * i < 4.0f; ++n) {
                float t = r * r - i * i + cr;
                i = 2.0f * r * i + ci;
                r = t;
            }
            m[y][x] = n;
        }
    SHOW("%d", &m[0][0], W * H);
}
