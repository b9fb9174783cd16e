#include "show.h"
struct s { short a; int b[2]; } o[9]; int n;
static int tick(int *c) { return ++*c; }
int main(void) {
    #pragma omp target map(tofrom: o, n)
    {
        int c = 0; const char digits[] = "0123456789";
        struct s t[3] = { [0 ... 2] = { 1, { 2, 3 } }, [1].b[1] = 7 };
        struct s u = { tick(&c), { tick(&c) } }, w = { .b = { [1] = tick(&c) } };
        for (int i = 0; i < 3; i++) { o[i] = t[i]; o[i + 3] = i ? u : w; o[i + 6] = (struct s){ digits[i + 4], { c } }; }
        n = sizeof(struct s) + sizeof digits + sizeof t / sizeof *t;
    }
    for (int i = 0; i < 9; i++) printf("%d %d %d\n", o[i].a, o[i].b[0], o[i].b[1]); printf("%d\n", n);
}
