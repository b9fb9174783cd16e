#include "show.h"
#define R 4
#define Q 5
#define P 6
double A[R][Q][P], C4[P][P];
int main(void) {
    for (int i = 0; i < R * Q * P; ++i) A[i / (Q * P)][i / P % Q][i % P] = i % P / (double)P;
    for (int i = 0; i < P * P; ++i) C4[i / P][i % P] = i % 5 / (double)P;
    #pragma omp target parallel for map(tofrom: A) map(to: C4)
    for (int r = 0; r < R; ++r)
        for (int q = 0; q < Q; ++q) {
            double sum[P];
            for (int p = 0; p < P; ++p) {
                sum[p] = 0.0;
                for (int s = 0; s < P; ++s) sum[p] += A[r][q][s] * C4[s][p];
            }
            for (int p = 0; p < P; ++p) A[r][q][p] = sum[p];
        }
    SHOW("%.17g", &A[0][0][0], R * Q * P);
}
