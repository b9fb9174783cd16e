/* What the last iteration that assigns leaves: of several schedules, and of sections. */
#include <stdio.h>
enum { N = 50 };
int a[N];
int main(void) {
    int w = -4, x = -5, y = -6, z = -7;
    double half = 0.25;
    for (int i = 0; i < N; i++)
        a[i] = (i * 29) % 53;
#pragma omp target parallel map(tofrom : w, x, y, z, half, a)
    {
#pragma omp for lastprivate(conditional : x, half) schedule(static, 3)
        for (int k = 0; k < N; k++)
            if (a[k] % 7 == 2) {
                for (int j = 0; j < 3; j++)
                    if (j == k % 3)
                        x = k + j;
                half = k * 0.5;
            }
#pragma omp for lastprivate(conditional : y, w) schedule(dynamic, 2)
        for (int k = 3; k < N - 1; k += 2) {
            if (a[k] > 40)
                y = a[k];
            if (a[k] > 1000)
                w = 1;
        }
#pragma omp for collapse(2) lastprivate(conditional : z)
        for (int i = 1; i < 6; i++)
            for (int j = 0; j < 4; j++)
                if (i * j == 4)
                    z = 10 * i + j;
    }
    printf("%d %d %d %d %g\n", w, x, y, z, half);
}
