#include "show.h"
#include <math.h>
#define N 12
#define M 5
double data[N][M], mean[M], deviation[M];
int main(void) {
    for (int i = 0; i < N; ++i) for (int j = 0; j < M; ++j) data[i][j] = i * j / (double)M + i;
    #pragma omp target parallel for map(to: data) map(from: mean, deviation)
    for (int j = 0; j < M; ++j) {
        double m = 0, s = 0;
        for (int i = 0; i < N; ++i) m += data[i][j];
        m /= N;
        for (int i = 0; i < N; ++i) s += (data[i][j] - m) * (data[i][j] - m);
        s = sqrt(s / N);
        mean[j] = m;
        deviation[j] = s <= 0.1 ? 1.0 : s;
    }
    SHOW("%.17g", mean, M); SHOW("%.17g", deviation, M);
}
