#include "show.h"
int to[4], from[4], tofrom[4], nowait, map, reduction, parallel[8], read = 1, write, capture;
int main(void) {
    int critical = 3, atomic = 2, simd = 1;
    #pragma omp target parallel map(to: to) map(from: from) map(tofrom: tofrom, nowait, map) \
        map(reduction, parallel, read, write, capture) firstprivate(critical)
    {
        #pragma omp for reduction(+: reduction) lastprivate(capture) private(simd)
        for (int omp = 0; omp < 8; omp++) {
            simd = omp * critical;
            reduction += simd;
            parallel[omp] = atomic;
            capture = omp;
        }
        #pragma omp for
        for (int schedule = 0; schedule < 4; schedule++) {
            from[schedule] = to[schedule] + schedule;
            tofrom[schedule] += 2;
            #pragma omp atomic
            nowait++;
            #pragma omp critical(map)
            map += schedule;
        }
        int barrier;
        #pragma omp atomic read
        barrier = read;
        #pragma omp single
        write = barrier + 4;
    }
    printf("%d %d %d %d %d %d\n", reduction, parallel[7], write, capture, nowait, map);
    SHOW("%d", from, 4);
    SHOW("%d", tofrom, 4);
}
