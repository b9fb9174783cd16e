#include "show.h"
#define N 14
char a[N + 1] = "ACCGTTAGACGTCA", b[N + 1] = "TACGGTCAGACTCA"; int r[4];
int main(void) {
    #pragma omp target parallel for map(to: a, b) map(from: r)
    for (int shift = 0; shift < 4; ++shift) {
        unsigned char row[N + 1];
        for (int j = 0; j <= N; ++j) row[j] = 0;
        for (int i = 0; i < N; ++i) {
            int diagonal = 0;
            for (int j = 1; j <= N; ++j) {
                int above = row[j];
                row[j] = a[i] == b[(j - 1 + shift) % N] ? diagonal + 1
                    : above > row[j - 1] ? above : row[j - 1];
                diagonal = above;
            }
        }
        r[shift] = row[N];
    }
    SHOW("%d", r, 4);
}
