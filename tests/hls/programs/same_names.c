/* Variables of the same names, in functions and blocks: a directive means the one that it sees. */
#include <stdio.h>

int s = 3, out[8], big[4];

static void callee(int *p, int n) {
    int x = 1;
#pragma omp for private(x) schedule(static, 1)
    for (int i = 0; i < 8; i++) {
        x = i;
        *p += x + s;
    }
    *p += x + s;
    {
        int n = 5;
#pragma omp single
        {
            int x = n;
            big[0] += x;
        }
    }
    *p += n;
}

static void total(void) {
#pragma omp for reduction(+: s)
    for (int i = 0; i < 8; i++)
        s += i;
}

int main(void) {
#pragma omp target parallel num_threads(4) map(tofrom: out, s, big)
    {
        int x = 5;
        callee(&x, 100);
        total();
        {
            int s = 7;
#pragma omp for private(s)
            for (int i = 0; i < 4; i++) {
                s = i;
                out[i] += s;
            }
            x += s;
        }
        out[4 + (x > 0)] = 1;
#pragma omp critical
        out[7] += x;
    }
    for (int i = 0; i < 8; i++)
        printf("%d ", out[i]);
    printf("%d %d\n", s, big[0]);
}
