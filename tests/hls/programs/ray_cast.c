#include "show.h"
struct v3 { float x, y, z; }; struct ray { struct v3 o, d; }; struct hit { float t; int id; };
static struct v3 sub(struct v3 a, struct v3 b) { return (struct v3){ a.x - b.x, a.y - b.y, a.z - b.z }; }
static float dot(struct v3 a, struct v3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
struct { struct v3 c; float r; } ball[5]; float img[6][8]; int who[6][8];
static struct hit nearest(struct ray r) {
    struct hit best = { 1e30f, -1 };
    for (int i = 0; i < 5; i++) {
        struct v3 oc = sub(r.o, ball[i].c);
        float b = dot(oc, r.d), c = dot(oc, oc) - ball[i].r * ball[i].r, d = b * b - c;
        if (d < 0) continue;
        float t = -b - __builtin_sqrtf(d);
        if (t > 0 && t < best.t) best = (struct hit){ t, i };
    }
    return best;
}
int main(void) {
    for (int i = 0; i < 5; i++) { ball[i].c = (struct v3){ i - 2, (i * 3) % 5 - 2, 4 + i }; ball[i].r = 0.7f + 0.1f * i; }
    #pragma omp target parallel for collapse(2) map(to: ball) map(from: img, who)
    for (int y = 0; y < 6; y++) for (int x = 0; x < 8; x++) {
        struct ray r = { .d = { (x - 4) * .2f, (y - 3) * .2f, 1 } };
        struct hit h = nearest(r);
        img[y][x] = h.id < 0 ? 0 : h.t; who[y][x] = h.id;
    }
    for (int i = 0; i < 48; i++) printf("%g %d\n", img[0][i], who[0][i]);
}
