#include "show.h"
int q[24], r[24], t[24], u[24]; unsigned v[24];
int main(void) {
    #pragma omp target parallel for map(from: q, r, t, u, v)
    for (int i = 0; i < 24; ++i) {
        int x = (i - 12) * 1000003, y = i % 5 + 1;
        q[i] = x / y;
        r[i] = x % -y;
        t[i] = x / 8 - x / -16;
        u[i] = x % 64;
        v[i] = (unsigned)x / 10u + (unsigned)x % 32u;
    }
    SHOW("%d", q, 24); SHOW("%d", r, 24); SHOW("%d", t, 24); SHOW("%d", u, 24); SHOW("%u", v, 24);
}
