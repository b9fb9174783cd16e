/* Parallel regions in each thread of the region, with all they may contain. */
#include <omp.h>
#include <stdio.h>
enum { N = 6 };
int a[4][N], seen[4][5], last[4];
double mean[4];

static void row(int r) {
#pragma omp parallel for schedule(dynamic, 2) num_threads(3)
    for (int i = 0; i < N; i++)
        a[r][i] += 10 * r + i;
}

int main(void) {
#pragma omp target parallel num_threads(4) map(tofrom: a, seen, last, mean)
    {
        int me = omp_get_thread_num(), sum = 3, most = -1;
        double half = 0;
#pragma omp parallel reduction(+: half) firstprivate(sum)
        {
            seen[me][0] = omp_get_thread_num();
            seen[me][1] = omp_get_num_threads();
            seen[me][2] = omp_in_parallel();
            sum += 2;
            half += sum * 0.5;
#pragma omp barrier
#pragma omp single
            seen[me][3] += 1;
#pragma omp for
            for (int i = 0; i < N; i++)
                a[me][i] = i;
#pragma omp master
            seen[me][4]++;
        }
#pragma omp parallel for reduction(+: sum) reduction(max: most) if(me > 1)
        for (int i = 0; i < N; i++) {
            sum += a[me][i];
            most = most > i * me ? most : i * me;
        }
        mean[me] = half + sum;
        last[me] = most;
#pragma omp parallel sections
        {
#pragma omp section
            mean[me] += 1;
#pragma omp section
            last[me] += 1;
        }
#pragma omp barrier
#pragma omp for schedule(dynamic)
        for (int r = 0; r < 4; r++)
            row(r);
    }
    for (int r = 0; r < 4; r++) {
        for (int i = 0; i < N; i++)
            printf("%d ", a[r][i]);
        for (int i = 0; i < 5; i++)
            printf("%d ", seen[r][i]);
        printf("%g %d\n", mean[r], last[r]);
    }
}
