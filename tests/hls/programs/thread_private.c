// Variables of which each thread has one: what they begin with, what the host sees, and copies.
#include <omp.h>
#include <stdio.h>

struct both {
    int n;
    double x;
};
static int counter = 3, base;
static struct both pair;
static float scale = 0.5f;
#pragma omp threadprivate(counter, pair)
#pragma omp threadprivate(base, scale)
static short table[6] = {1, 2, 3}, given[2][3];
static long zeros[8];
#pragma omp threadprivate(table, given, zeros)

static int counted(int by) {
    static int times = 10;
#pragma omp threadprivate(times)
    counter += by;
    times++;
    return counter + times;
}

int main(void) {
    int out[8][4], sum = 0;
    counter = 100;
    base = 7;
    pair.n = 1;
    pair.x = 2.5;
    scale = 4;
    for (int i = 0; i < 6; i++) {
        table[i] += 10 * i;
        given[i / 3][i % 3] = i;
    }
#pragma omp target parallel num_threads(4) copyin(base, pair, given) map(from: out) map(tofrom: sum)
    {
        int own = 0, me = omp_get_thread_num();
        counter += base * me;
        for (int i = 0; i < 6; i++)
            table[i] += given[i / 3][i % 3] * me;
        zeros[me]++;
        pair.n += me;
#pragma omp single copyprivate(own, pair)
        {
            own = base * 6;
            pair.n = own - 2;
            pair.x = own / 4.0;
        }
#pragma omp for
        for (int i = 0; i < 8; i++) {
            out[i][0] = counted(i % 2) - counter;
            out[i][1] = own;
            out[i][2] = (int)(pair.x * 10) + pair.n + (int)(me ? scale : 2 * scale);
            out[i][3] = base + table[i % 6] + given[1][2] + zeros[i % 5];
        }
#pragma omp critical
        sum += counter - base;
        base = me + 1;
    }
    for (int i = 0; i < 8; i++)
        printf("%d %d %d %d\n", out[i][0], out[i][1], out[i][2], out[i][3]);
    for (int i = 0; i < 6; i++)
        printf("%d %d %ld\n", table[i], given[i / 3][i % 3], zeros[i % 5]);
    printf("%d %d %d %d %g\n", sum, counter, base, pair.n, pair.x);
}
