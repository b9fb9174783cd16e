#include "show.h"
#define ROWS 6
#define COLUMNS 9
int m[ROWS][COLUMNS], sums[ROWS];
int main(void) {
    for (int i = 0; i < ROWS; ++i)
        for (int j = 0; j < COLUMNS; ++j) m[i][j] = (i + 2) * (j - 3);
    #pragma omp target parallel map(to: m) map(from: sums)
    {
        for (int i = omp_get_thread_num(); i < ROWS; i += omp_get_num_threads()) {
            int sum = 0;
            for (int j = 0; j < COLUMNS; ++j) sum += m[i][j];
            sums[i] = sum;
        }
    }
    SHOW("%d", sums, ROWS);
}
