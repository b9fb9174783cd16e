/* OpenMP's queries without its header: declared at file level, in a block, in a function. */
#include <stdio.h>

enum { TEAMS = 8 };
int found[TEAMS][6], table[TEAMS] = {3, 1, 4, 1, 5, 9, 2, 6}, scale = 7;
extern int omp_get_max_threads(void);

static int scaled(int n) {
    extern int scale, omp_in_parallel(void);
    struct factors { int a, b; } f = {2, n};
    typedef int pair[2];
    pair own;
    own[n & 1] = f.a * f.b;
    return own[n & 1] * scale + omp_in_parallel();
}

int main(void) {
    extern int omp_is_initial_device(void);
    int on_host = omp_is_initial_device();
#pragma omp target parallel num_threads(4) map(tofrom: found)
    {
        extern int omp_get_thread_num(void);
        int omp_get_num_threads(void), omp_in_parallel(void);
        extern int table[TEAMS];
        int me = omp_get_thread_num();
        found[me][0] = omp_get_num_threads();
        found[me][1] = omp_get_max_threads();
        found[me][2] = omp_in_parallel();
        found[me][3] = omp_is_initial_device();
        found[me][4] = table[me];
        found[me][5] = scaled(me);
    }
    printf("%d", on_host);
    for (int i = 0; i < 6 * TEAMS; i++)
        printf(" %d", found[i / 6][i % 6]);
    return omp_is_initial_device() != 1;
}
