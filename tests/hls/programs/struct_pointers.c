#include "show.h"
struct view { float *data; int rows, columns; };
struct pair { struct view from, to; float scale; };
struct list { int n; const int *at; } host;
float a[24], b[24]; int order[6] = { 3, 1, 4, 1, 5, 0 }, seen[8];
static float get(struct view v, int r, int c) { return v.data[r * v.columns + c]; }
static void put(const struct view *v, int r, int c, float x) { v->data[r * v->columns + c] = x; }
static void next(struct view *v) { v->data += v->columns; v->rows--; }
static float sum(struct view v) { float s = 0; for (; v.rows > 0; next(&v)) for (int c = 0; c < v.columns; ++c) s += v.data[c]; return s; }
static int count(struct list l) { int n = 0; while (l.n--) n += *l.at++; return n; }
int main(void) {
    host.n = 6;
    for (int i = 0; i < 24; ++i) a[i] = i - 0.5f * (i % 5);
    #pragma omp target parallel map(to: a, order) map(tofrom: b, seen)
    {
        int me = omp_get_thread_num();
        float own[12] = { 1, 2, 3, 4, 5, 6 };
        struct view whole = { a, 4, 6 }, mine = { .columns = 3, .data = own, .rows = 2 }, out;
        struct pair both = { whole, { b, 4, 6 }, 2 };
        out = both.to;
        #pragma omp for
        for (int r = 0; r < 4; ++r) {
            struct view row = whole;
            row.data += r * row.columns;
            row.rows = 1;
            for (int c = 0; c < 6; ++c) put(&out, r, c, both.scale * get(both.from, r, c) + get(mine, r & 1, c % 3));
            *row.data > 3 ? put(&both.to, r, 0, sum(row)) : put(&out, r, 5, sum(mine));
            mine.data[r] += row.data[1];
            both.from.data[0] == 0 ? (void)0 : (void)(both.scale += 1);
        }
        if (me < 8) seen[me] = count((struct list){ host.n, order }) + (int)sum((struct view){ own + 2, 1, 4 }) - (int)own[5] + out.rows;
    }
    SHOW("%g", b, 24); SHOW("%d", seen, 1);
}
