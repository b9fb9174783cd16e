/* Copies of arrays that a declared reduction begins with more than zeros: each element of each. */
#include "show.h"
enum { N = 60 };
struct range {
    int least, most;
};
#define LEAST(a, b) ((a) < (b) ? (a) : (b))
#define MOST(a, b) ((a) > (b) ? (a) : (b))
#pragma omp declare reduction(least : int : omp_out = LEAST(omp_out, omp_in)) \
    initializer(omp_priv = 500)
#pragma omp declare reduction(span : struct range : omp_out.least = \
                                  LEAST(omp_out.least, omp_in.least), \
                                  omp_out.most = MOST(omp_out.most, omp_in.most)) \
    initializer(omp_priv = {500, -500})
int a[N], low[4], both[6];
int main(void) {
    int k[3] = {400, 401, 402};
    struct range spans[3] = {{300, -300}, {300, -300}, {300, -300}};
    for (int i = 0; i < N; i++)
        a[i] = 100 + (i * 37) % 61;
    for (int i = 0; i < 4; i++)
        low[i] = 450 + i;
#pragma omp target parallel map(tofrom : k, a, low, spans, both)
    for (int round = 0; round < 2; round++) {
#pragma omp for reduction(least : k, low[1:2]) reduction(span : spans)
        for (int i = 0; i < N; i++) {
            k[i % 3] = LEAST(k[i % 3], a[i] - round);
            low[1 + (i & 1)] = LEAST(low[1 + (i & 1)], a[i] - 10 * round);
            spans[i % 3].least = LEAST(spans[i % 3].least, a[i] - round);
            spans[i % 3].most = MOST(spans[i % 3].most, a[i] + round);
        }
#pragma omp for
        for (int i = 0; i < 6; i++)
            both[i] = i & 1 ? spans[i / 2].most : spans[i / 2].least;
    }
    SHOW("%d", k, 3);
    SHOW("%d", low, 4);
    SHOW("%d", both, 6);
}
