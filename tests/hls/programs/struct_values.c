#include "show.h"
struct vec { float x, y, z; };
struct body { char tag; struct vec at, by; short hits; double mass; };
static struct vec add(struct vec a, struct vec b) { return (struct vec){ a.x + b.x, a.y + b.y, .z = a.z + b.z }; }
static float dot(const struct vec *a, const struct vec *b) { return a->x * b->x + a->y * b->y + a->z * b->z; }
static void turn(struct vec *v) { float x = v->x; v->x = -v->y; v->y = x; }
static void twice(struct vec *v) { for (int k = 0; k < 2; ++k) turn(v); }
struct body b[24], c[24]; float r[24]; struct vec most = { 3, 4 }; struct vec last[8];
int main(void) {
    struct vec wind = { .y = 0.5f, .x = 2 };
    for (int i = 0; i < 24; ++i) {
        b[i] = (struct body){ 'a' + i, { i, 1.5f * i }, { 1, .z = i }, .mass = 3 * i };
        c[i].tag = 1;
    }
    #pragma omp target parallel map(to: b) map(from: r) map(tofrom: c, last)
    {
        int me = omp_get_thread_num(), n = omp_get_num_threads();
        struct vec sum = { 0 }, keep[3] = { { 1, 2, 3 }, [2] = { .y = 9 } };
        for (int i = me; i < 24; i += n) {
            struct body one = b[i], *to = &c[i];
            struct vec old = one.at;
            one.at = add(one.at, add(one.by, wind));
            twice(&one.by);
            if (i & 1) turn(&one.at); else one.by = keep[i % 3];
            sum = i % 5 ? add(sum, one.at) : old;
            keep[i % 3] = sum;
            one.hits += dot(&one.at, &most) > 50;
            *to = one;
            c[(i + 0)].tag += (char)add(one.at, old).x;
            r[i] = dot(&one.by, &sum) + keep[1].z;
        }
        last[me & 7] = sum;
    }
    SHOW("%g", r, 24);
    for (int i = 0; i < 24; ++i)
        printf("%d %g %g %g %g %d %g\n", c[i].tag, c[i].at.x, c[i].at.z, c[i].by.x, c[i].by.z, c[i].hits, c[i].mass);
}
