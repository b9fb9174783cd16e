#include "show.h"
#define PLUS +
#define BOTH tofrom
#define REGION target parallel
#define LOOP for
#define LENGTH (4 * 4)
#define CHUNK (1 << 1)
#define SHARE reduction(PLUS: sum) schedule(static, CHUNK)
#define DEALT _Pragma("omp for schedule(static, CHUNK + 1)")
#define ALONE _Pragma("omp critical(alone)")
#define TOGETHER _Pragma("omp barrier")
int a[16];
long sum;
static void all(void) {
    /* a comment */ DEALT /* another */ for (int i = 0; i < LENGTH; i++) {
        a[i] += i;
        ALONE sum += a[i];
    }
    TOGETHER if (a[0] == 0 && a[1] > 0) { DEALT for (int i = 0; i < 4; i++) a[i] *= 2; TOGETHER }
}
int main(void) {
    #pragma omp REGION map(BOTH: a[0:LENGTH], sum)
    {
        #pragma omp LOOP /* over
            two lines */ SHARE // and to \
            the next
        for (int i = 0; i < LENGTH; i++) {
            a[i] = i;
            sum += i;
        }
#undef CHUNK
#define CHUNK 4
        all();
    }
    printf("%ld\n", sum);
    SHOW("%d", a, 16);
}
