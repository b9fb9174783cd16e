// A static local is one for the region, with its value from call to call.
#include <stdio.h>

struct step {
    short by;
    double scale;
};
static int next(void) {
    static int seed = 17, calls;
    static const struct step steps[] = {{3, 0.5}, {-5, 2}, {.scale = 1.0f / 3}};
    seed = seed * 5 + steps[calls % 3].by;
    calls++;
    return (int)(seed * steps[calls % 3].scale) % 1000;
}
int main(void) {
    int a[12];
#pragma omp target map(from: a)
    {
        static unsigned char many[3] = {250, 7};
        for (int i = 0; i < 12; i++) {
            many[i % 3] += 3;
            a[i] = next() + many[i % 3];
        }
    }
    for (int i = 0; i < 12; i++)
        printf("%d\n", a[i]);
}
