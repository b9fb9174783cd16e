#include <stdio.h>
#include <stdint.h>
union number { double d; uint64_t u; uint32_t half[2]; uint8_t byte[8]; };
struct flags { unsigned a : 3; int b : 5; unsigned c : 13; unsigned long long d : 40; _Bool e : 1; unsigned : 3; short f : 9; };
struct __attribute__((packed)) record { char tag; int value; double x; short y : 11; };
struct mixed { int kind; union { float f; int i; short s[2]; } as; struct flags g; };
static uint64_t bits_of(double d) { union number n; n.d = d; return n.u; }
static double double_of(uint64_t u) { union number n = { .u = u }; return n.d; }
static union number twice(union number n) { n.d *= 2; return n; }
static union number host[8];
static struct flags hf[8];
static struct record hr[8];
static struct mixed hm[4];
int main(void) {
    uint64_t out[64];
    for (int i = 0; i < 8; i++) { host[i].d = i * 1.25; hf[i].a = i; hf[i].b = -i; hf[i].c = i * 999; hf[i].d = 1ull << 4 * i; hf[i].f = -20 * i;
        hr[i].tag = i; hr[i].value = -1000 * i; hr[i].x = i / 3.0; hr[i].y = i * 77; }
    for (int i = 0; i < 4; i++) { hm[i].kind = i; hm[i].as.f = i + 0.5f; }
#pragma omp target parallel for map(tofrom: host, hf, hr, hm) map(from: out) num_threads(4)
    for (int i = 0; i < 8; i++) {
        union number n = host[i];
        out[i] = bits_of(n.d * 3) + n.byte[6];
        host[i].half[0] = 7;
        host[i] = twice(host[i]);
        out[i + 8] = (uint64_t)double_of(bits_of(i + 0.75));
        struct flags f = hf[i];
        f.a += 3; f.b--; f.c *= 5; f.d |= 3; f.e = f.a > 4; f.f += 100;
        hf[i] = f;
        out[i + 16] = f.a + 10 * f.b + (f.c = i * 3000);
        struct flags g = {1, -2, 3, .e = 1};
        g.b += i; g.f = f.f;
        out[i + 24] = g.a + g.b * 100 + g.c * 10000 + g.e * 7 + g.f;
        hr[i].value++; hr[i].x += hr[i].tag; hr[i].y -= 9;
        struct record r = hr[i]; r.y++; hr[(i + 0) & 7].tag = r.y;
        out[i + 32] = r.value;
        if (i < 4) { hm[i & 3].kind += i < 4; hm[i].as.i ^= 5; hm[i].g.c = i; hm[i].g.b = 9 - i; }
        out[i + 40] = f.f++ + f.f + (g.c > 0 ? g.a : g.b);
        out[i + 48] = 0; out[i + 56] = sizeof(struct record);
    }
    for (int i = 0; i < 64; i++) printf("%llu\n", (unsigned long long)out[i]);
    for (int i = 0; i < 8; i++) printf("%g %d %d %d %d %llu %d %d %d %g %d\n", host[i].d, hf[i].a, hf[i].b, hf[i].c, hf[i].e, (unsigned long long)hf[i].d, hf[i].f, hr[i].tag, hr[i].value, hr[i].x, hr[i].y);
    for (int i = 0; i < 4; i++) printf("%d %d %d %d\n", hm[i].kind, hm[i].as.i, hm[i].g.b, hm[i].g.c);
}
