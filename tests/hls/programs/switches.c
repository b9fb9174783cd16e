#include "show.h"
#define N 40
enum kind { NONE, FEW = 3, MANY = -2 };
static long named(enum kind k, long x) {
    switch (k) {
    case NONE: return 7;
    case FEW: x *= 2;
    case MANY: break;
    default: return -x;
    }
    return x + 1;
}
int main(void) {
    int a[N], b[N];
    long c[N];
    for (int i = 0; i < N; ++i)
        a[i] = (i * 13) % 17 - 3;
    #pragma omp target parallel for map(to: a) map(from: b, c)
    for (int i = 0; i < N; ++i) {
        int found = 0;
        for (int j = 0; j < 4; ++j) {
            switch ((unsigned char)(a[i] + j)) {
            case 255:
                found += 100;
                continue;
            case 1:
            case 2: {
                int t = j;
                found += t;
                if (t == 2)
                    break;
                found += 1000;
            }
            default:
                found -= 1;
                break;
            case 'a' - 92:
                #pragma omp critical
                found += 5;
                switch (j) {
                case 1: found *= 3;
                }
            }
            found *= 2;
        }
        switch (found) {}
        b[i] = found;
        c[i] = named(a[i], found);
    }
    SHOW("%d", b, N);
    SHOW("%ld", c, N);
}
