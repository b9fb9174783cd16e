/* Reductions that the program declares: of structs, also with arrays, and of numbers. */
#include <stdio.h>
enum { N = 60 };
struct point {
    int x, y;
    double w;
};
struct best {
    float value;
    int at;
};
struct sums {
    long total;
    int counts[4];
};
typedef struct point point_t;
static void put(struct sums *to, const struct sums *from) {
    to->total += from->total;
    for (int i = 0; i < 4; i++)
        to->counts[i] += from->counts[i];
}
static void begin(struct sums *s, int n) {
    s->total = n;
    for (int i = 0; i < 4; i++)
        s->counts[i] = 0;
}
static int is_better(struct best a, struct best b) {
    return a.value > b.value || (a.value == b.value && a.at < b.at);
}
#define MAGNITUDE(n) ((n) < 0 ? -(n) : (n))
#pragma omp declare reduction(merge : point_t : omp_out.x += omp_in.x, omp_out.y += omp_in.y, \
                                  omp_out.w += omp_in.w) initializer(omp_priv = {0, 0, 0})
#pragma omp declare reduction(largest : struct best : omp_out = is_better(omp_in, omp_out) \
                                  ? omp_in : omp_out) initializer(omp_priv = omp_orig)
#pragma omp declare reduction(+ : struct sums : put(&omp_out, &omp_in)) \
    initializer(begin(&omp_priv, 0))
#pragma omp declare reduction(absmax : int, long : omp_out = MAGNITUDE(omp_in) > omp_out \
                                  ? MAGNITUDE(omp_in) : omp_out) initializer(omp_priv = 0)
int a[N], most = 3;
long wide;
int main(void) {
    point_t p = {1, 2, 0.5};
    struct best b = {-1, -1};
    struct sums s = {5, {1, 2, 3, 4}};
    for (int i = 0; i < N; i++)
        a[i] = (i * 37) % 61 - 30;
#pragma omp target parallel for reduction(merge : p) reduction(largest : b) reduction(+ : s) \
    reduction(absmax : most, wide) map(tofrom : p, b, s, most, wide, a)
    for (int i = 0; i < N; i++) {
        struct best here = {a[i], i};
        p.x += a[i];
        p.y += i;
        p.w += 0.25 * i;
        if (is_better(here, b))
            b = here;
        s.total += a[i];
        s.counts[i & 3]++;
        most = MAGNITUDE(a[i]) > most ? MAGNITUDE(a[i]) : most;
        wide = MAGNITUDE(3 * a[i]) > wide ? MAGNITUDE(3 * a[i]) : wide;
    }
    printf("%d %d %g %g %d\n", p.x, p.y, p.w, b.value, b.at);
    printf("%ld %d %d %d %d ", s.total, s.counts[0], s.counts[1], s.counts[2], s.counts[3]);
    printf("%d %ld\n", most, wide);
}
