#include "show.h"
#define N 9
int path[N][N];
int main(void) {
    for (int i = 0; i < N; ++i) for (int j = 0; j < N; ++j) path[i][j] = (i + j) % 4 ? i * j % 7 + 1 : 999;
    #pragma omp target parallel map(tofrom: path)
    for (int k = 0; k < N; ++k) {
        #pragma omp for
        for (int i = 0; i < N; ++i)
            for (int j = 0; j < N; ++j) {
                int by = path[i][k] + path[k][j];
                path[i][j] = path[i][j] < by ? path[i][j] : by;
            }
    }
    SHOW("%d", &path[0][0], N * N);
}
