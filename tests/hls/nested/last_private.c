/* What the last iteration leaves in variables of the region that a nested team is in. */
#include <stdio.h>
struct pair {
    int a, b;
};
int main(void) {
    int out[7] = {0};
#pragma omp target map(tofrom : out)
    {
        int m = -1, q = 3, arr[4] = {1, 2, 3, 4}, kept[2] = {0};
        struct pair p = {0, 0};
        double product = 1;
#pragma omp parallel num_threads(4)
        {
#pragma omp for lastprivate(m, p) firstprivate(q) reduction(* : product) reduction(+ : arr)
            for (int i = 0; i < 20; i++) {
                m = i * 3;
                p.a = i + q;
                p.b = -i;
                product *= 1.5;
                arr[i % 4] += i;
            }
#pragma omp sections lastprivate(q, kept)
            {
#pragma omp section
                q = kept[0] = 7;
#pragma omp section
                q = kept[0] = 9;
            }
        }
        out[0] = p.a;
        out[1] = m;
        out[2] = q;
        out[3] = arr[1];
        out[4] = p.b;
        out[5] = product > 3000;
        out[6] = kept[0];
    }
    for (int i = 0; i < 7; i++)
        printf("%d ", out[i]);
    printf("\n");
}
