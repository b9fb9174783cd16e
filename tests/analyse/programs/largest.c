/* The largest element. PRIVATE: each thread finds its own, and compares once. */
#include <stdio.h>
#include <omp.h>
#define N 512
static int in[N], most[1];
static void largest(int *in, int *most) {
    #pragma omp target parallel map(to: in[0:N]) map(tofrom: most[0:1]) num_threads(4)
    {
#ifdef PRIVATE
        int own = -1;
        #pragma omp for
        for (int i = 0; i < N; i++)
            own = in[i] > own ? in[i] : own;
        #pragma omp critical
        if (own > most[0])
            most[0] = own;
#elif defined REWRITTEN
        int step = 0;
        while (step < N / 4) {
            int at = omp_get_thread_num() * (N / 4) + step;
            int here = in[at];
            #pragma omp critical
            { int before = *most; if (before < here) *most = here; }
            ++step;
        }
#else
        #pragma omp for
        for (int i = 0; i < N; i++) {
            int value = in[i];
            #pragma omp critical
            if (value > most[0])
                most[0] = value;
        }
#endif
    }
}
int main(void) {
    for (int i = 0; i < N; i++)
        in[i] = i * 73 % 1009;
    most[0] = -1;
    largest(in, most);
    printf("%d\n", most[0]);
    return 0;
}
