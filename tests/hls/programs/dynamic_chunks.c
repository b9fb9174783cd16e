/* Chunks that threads take: of every size, in loops of all kinds, again and again, without waits. */
#include "show.h"

enum { N = 53, ROUNDS = 4 };
int times[N], rows[N][7], rounds[ROUNDS][N], none[4], n = N;
long down[N], last = -1;
unsigned wrapped[N];
double sum;
int kept = -1;

int main(void) {
#pragma omp target parallel map(tofrom: times, rows, rounds, none, down, wrapped, sum, kept, last)
    {
#pragma omp for schedule(dynamic)
        for (int i = 0; i < n; i++)
            times[i]++;
#pragma omp for schedule(dynamic, 4) nowait
        for (int i = 3; i <= n - 2; i += 3) {
            if (i % 2)
                continue;
            times[i] += 10;
        }
#pragma omp for schedule(guided) reduction(+: sum)
        for (long i = N - 1; i >= 0; --i) {
            down[i] += i;
            sum += 1 << i % 9;
        }
#pragma omp for schedule(monotonic: guided, 3) lastprivate(kept)
        for (unsigned i = 2; i <= 2 * N; i += 2) {
            kept = i * 3;
            wrapped[i / 2 - 1] += i - 3u;
        }
#pragma omp for collapse(2) schedule(nonmonotonic: dynamic, 5)
        for (int i = 0; i < N; i++)
            for (int j = 6; j >= 0; j -= 2)
                rows[i][j] += 100 * i + j;
#pragma omp for schedule(dynamic, 1000)
        for (int i = n; i < 4; i++)
            none[i] = 1;
        for (int round = 0; round < ROUNDS; round++) {
#pragma omp for schedule(dynamic, 3) nowait
            for (int i = 0; i < N; i++)
                rounds[round][i] += i + round;
            if (round & 1) {
#pragma omp for schedule(guided, 2) collapse(2) lastprivate(last) nowait
                for (int i = 0; i < 5; i++)
                    for (long j = 0; j < 3; j++) {
#pragma omp atomic
                        rounds[round][3 * i + j] -= 2;
                        last = i * j;
                    }
            }
        }
    }
    SHOW("%d", times, N);
    SHOW("%d", (int *)rows, 7 * N);
    SHOW("%d", (int *)rounds, ROUNDS * N);
    SHOW("%ld", down, N);
    SHOW("%u", wrapped, N);
    printf("%g %d %ld\n", sum, kept, last);
}
