#include "show.h"
struct point { char tag; float x, y; short weight; };
struct point p[20]; float r[20];
int main(void) {
    for (int i = 0; i < 20; ++i) { p[i].tag = 'a' + i; p[i].x = i; p[i].y = 0.5f * i; p[i].weight = 3 - i; }
    #pragma omp target parallel for map(tofrom: p) map(from: r)
    for (int i = 0; i < 20; ++i) {
        struct point *q = &p[i];
        r[i] = (q->x + p[i].y) * q->weight + p[i].tag;
        q->weight += 2;
    }
    SHOW("%g", r, 20);
    for (int i = 0; i < 20; ++i) printf("%d ", p[i].weight);
}
