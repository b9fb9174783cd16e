/* A parallel loop in each team of a league. */
#include <stdio.h>
int a[6][5], s;
int main(void) {
#pragma omp target teams distribute num_teams(3) map(tofrom: a)
    for (int i = 0; i < 6; i++) {
        int base = i * i;
#pragma omp parallel for num_threads(2)
        for (int j = 0; j < 5; j++)
            a[i][j] = base + j;
    }
    for (int i = 0; i < 30; i++)
        printf("%d ", a[i / 5][i % 5]);
}
