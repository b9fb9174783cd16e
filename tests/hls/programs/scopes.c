/* A scope: copies of variables that all threads have, and join at its end. */
#include <stdio.h>
int a[8], sum = 3, most;
#pragma omp assumes no_openmp_routines
int main(void) {
    int own = 0;
#pragma omp target parallel num_threads(4) map(tofrom : a, sum, most)
    {
        int mine = 2;
#pragma omp scope reduction(+ : sum) reduction(max : most) private(own)
        {
            own = 5;
#pragma omp for nowait
            for (int i = 0; i < 8; i++) {
                own += i;
                sum += own;
                most = own > most ? own : most;
            }
        }
#pragma omp scope private(mine) nowait
        {
            mine = sum;
#pragma omp for
            for (int i = 0; i < 8; i++)
                a[i] = mine + i;
        }
#pragma omp single
#pragma omp assume holds(1)
        a[0] += mine;
    }
    for (int i = 0; i < 8; i++)
        printf("%d ", a[i]);
    printf("%d %d\n", sum, most);
}
