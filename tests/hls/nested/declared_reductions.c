/* Reductions that the program declares, into variables of the region, and of sections. */
#include <stdio.h>
enum { N = 60 };
struct point {
    int x, y;
    double w;
};
#define MAGNITUDE(n) ((n) < 0 ? -(n) : (n))
#pragma omp declare reduction(absmax : int : omp_out = MAGNITUDE(omp_in) > omp_out \
                                  ? MAGNITUDE(omp_in) : omp_out) initializer(omp_priv = 0)
int a[N], m[3];
int main(void) {
    struct point c = {0, 0, 0};
#pragma omp declare reduction(merge : struct point : omp_out.x += omp_in.x, omp_out.w += omp_in.w)
    for (int i = 0; i < N; i++)
        a[i] = (i * 37) % 61 - 30;
#pragma omp target map(tofrom : c, m, a)
    {
        struct point q = {3, 3, 3};
        int k[3] = {1, -2, 3};
#pragma omp parallel for reduction(merge : q) reduction(absmax : k, m[1:2]) num_threads(5)
        for (int i = 0; i < N; i++) {
            q.x += i;
            q.w += 1;
            if (a[i] > k[i % 3])
                k[i % 3] = a[i];
            if (a[i] > m[1 + (i & 1)])
                m[1 + (i & 1)] = a[i];
        }
        c = q;
        m[0] = k[0] * 10000 + k[1] * 100 + k[2];
    }
    printf("%d %d %g %d %d %d\n", c.x, c.y, c.w, m[0], m[1], m[2]);
}
