/* Locks of the library: variables, elements of arrays, handed to a function. */
#include <omp.h>
#include <stdio.h>
omp_lock_t l, many[4];
int c, d[4], top = -1, tested, other;
static void add(omp_lock_t *lock, int *to, int by) {
    omp_set_lock(lock);
    *to += by;
    omp_unset_lock(lock);
}
int main(void) {
    omp_lock_t mine;
    omp_init_lock(&l);
    omp_init_lock(&mine);
    for (int i = 0; i < 4; i++)
        omp_init_lock(&many[i]);
#pragma omp target parallel num_threads(4) map(tofrom: c, d, l, top, tested, other)
    {
        int me = omp_get_thread_num();
        for (int i = 0; i < 5; i++) {
            omp_set_lock(&l);
            c = c + me;
            d[0] = c > 3 ? c : d[0];
            omp_unset_lock(&l);
            if (i & 1) {
                omp_set_lock(&many[i & 3]);
                d[i & 3] += 1;
                omp_unset_lock(&many[i & 3]);
            }
            omp_set_lock(&mine);
            if (me > top)
                top = me;
            omp_unset_lock(&mine);
            while (!omp_test_lock(&l))
                ;
            tested++;
            omp_unset_lock(&l);
            int got = 0;
            while (!(got = omp_test_lock(&mine)))
                ;
            other += got * me;
            omp_unset_lock(&mine);
        }
#pragma omp barrier
        add(&l, &c, 100);
        add(many + 2, d + 2, me);
    }
    for (int i = 0; i < 4; i++)
        omp_destroy_lock(many + i);
    omp_destroy_lock(&l);
    printf("%d %d %d %d %d %d %d\n", c, d[0], d[1], d[3], top, tested, other);
}
