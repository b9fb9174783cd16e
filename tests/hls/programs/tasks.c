/* Tasks, task loops and groups of them: the thread that comes to one executes it at once. */
#include "show.h"

enum { N = 24 };
int a[N], b[N], sum = 5, product = 1, left = -1, order;

static int fibonacci(int n) {
    int first = 0, second = 1;
    for (int i = 0; i < n; i++) {
#pragma omp task shared(first, second) firstprivate(i)
        {
            int next = first + second + 0 * i;
            first = second;
            second = next;
        }
#pragma omp taskwait
    }
    return first;
}

int main(void) {
    int i;
#pragma omp target parallel map(tofrom: a, b, sum, product, left, order)
    {
        int own = 3;
#pragma omp single
        {
            for (int k = 0; k < N; k++) {
#pragma omp task depend(inout: a[k]) priority(k)
                {
                    own += k;  // of its own copy
                    a[k] = own;
                }
#pragma omp task if(k & 1) untied depend(in: a[k])
                b[k] = a[k] + fibonacci(k & 7);
            }
#pragma omp taskgroup task_reduction(+: order)
            {
#pragma omp task in_reduction(+: order) final(own > 3)
                order += own;
#pragma omp taskyield
            }
        }
#pragma omp master
#pragma omp taskloop collapse(2) grainsize(3) reduction(+: sum) lastprivate(left)
        for (i = 0; i < 4; i++)
            for (int j = 0; j < 6; j++) {
                sum += a[6 * i + j];
                left = j;
            }
#pragma omp barrier
#pragma omp master taskloop simd num_tasks(4) nogroup
        for (i = 0; i < 5; i++)
#pragma omp atomic
            product *= 2 + (i & 1);
    }
    SHOW("%d", a, N);
    SHOW("%d", b, N);
    printf("%d %d %d %d\n", sum, product, left, order);
}
