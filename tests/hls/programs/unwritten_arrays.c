/* As the paper's double buffering: what is in a local array stays from one time to the next, and
   begins with zeros. */
#include "show.h"
#define N 12
static int kept(int x) {
    int last[2], other[1];
    last[1] = last[0];
    last[0] = x;
    return last[1] + other[0];
}
int main(void) {
    float out[8][N];
    int before[8][N];
    #pragma omp target parallel map(from: out, before)
    {
        int t = omp_get_thread_num(); float sums[4]; for (int i = 0; i < N; ++i) {
            float turns[2][2];
            turns[i % 2][1] = i + t;
            sums[i % 4] = sums[i % 4] * (i < 4 ? 0.0f : 1.0f) + turns[(i + 1) % 2][1];
            out[t][i] = sums[i % 4];
            before[t][i] = kept(i * t + 1); } }
    for (int t = 0; t < 1; ++t) {
        SHOW("%g", out[t], N);
        SHOW("%d", before[t], N);
    }
}
