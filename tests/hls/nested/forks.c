/* Teams of several sizes, one after the other, in a region of one thread. */
#include <stdio.h>
#include <omp.h>
enum { N = 24 };
int a[N], b[N];
void scale(int *x, int n, int by) {
#pragma omp parallel for num_threads(4)
    for (int i = 0; i < n; i++) x[i] *= by;
}
int main(void) {
    int total = 0, inner = 0, outer = 0, k = 3, last = 0;
    for (int i = 0; i < N; i++)
                a[i] = i;
#pragma omp target map(tofrom: a, b, total, inner, outer, last)
    {
        int tmp[N], scalar = 0, most = a[3] + 2, seen = 0;
        outer = omp_get_num_threads() * 100 + omp_get_thread_num() + omp_in_parallel() * 1000;
        for (int i = 0; i < 4; i++) scalar += a[i] * k;
        for (int t = 0; t < 3; t++) {
#pragma omp parallel for
            for (int i = 0; i < N; i++)
                tmp[i] = a[i] * scalar + t;
            k += tmp[t];
#pragma omp parallel
            {
                int me = omp_get_thread_num();
#pragma omp critical
                inner += me * omp_get_num_threads();
#pragma omp for
                for (int i = 0; i < N; i++)
                b[i] = tmp[N - 1 - i] + me * 0 + k;
#pragma omp for
                for (int i = 0; i < N; i++)
                tmp[i] = b[N - 1 - i];
            }
            if (tmp[3] > 100) {
                a[t] += tmp[4];
                if (a[t] & 1) continue;
                scale(a, N, 3);
                k++;
            }
        }
#pragma omp parallel num_threads(most) reduction(+: seen) firstprivate(k)
        {
            k += omp_get_thread_num();
            seen += k;
#pragma omp barrier
#pragma omp single
            seen += 1000;
        }
        int i;
#pragma omp parallel for lastprivate(last) schedule(dynamic, 3) num_threads(3)
        for (i = 0; i < N; i++) last = a[i] + b[i];
#pragma omp parallel for if (seen > 100000)
        for (int j = 0; j < N; j++) a[j] += omp_get_num_threads();
        total = seen + k + last + omp_get_max_threads();
    }
    long h = 7;
    for (int i = 0; i < N; i++)
                h = h * 31 + a[i] * 7 + b[i];
    printf("%d %d %d %d %ld\n", total, inner, outer, last, h);
}
