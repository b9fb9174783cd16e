#include "show.h"
struct pt { int x, y; }; int out[12];
static void bump(struct pt *p) { p->x++; }
static void both(struct pt *p, struct pt *q) { bump(p); bump(q); p->y += q->x; }
static int keep(struct pt *p) { struct pt *q = p; q->y = 5; return q->x; }
static void inc(int *v) { ++*v; }
static void more(int *v, int n) { for (int i = 0; i < n; i++) { inc(v); if (*v > 8) return; } }
int main(void) {
    #pragma omp target map(tofrom: out)
    {
        struct pt a = { 1, 2 }, b = { 3, 4 }, c = { 10, 20 };
        both(&a, &b); both(&a, &a);
        out[0] = a.x; out[1] = a.y; out[2] = b.x;
        out[3] = keep(&c); out[4] = c.y;
        int z = 3; more(&z, 4); more(&a.y, 50); out[5] = z; out[6] = a.y;
        int w = 1; int *pw = &w; *pw += 4; inc(pw); inc(&w); out[7] = w;
        struct pt d[2] = { a, { b.x } }; bump(&d[1]); inc(&d[0].y); out[8] = d[1].x; out[9] = d[0].y;
        (&a)->x = 77; (*&b).y = 3; out[10] = a.x + b.y;
    }
    for (int i = 0; i < 12; i++) printf("%d ", out[i]);
}
