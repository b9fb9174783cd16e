// Enumerations have the compiler's types: unsigned without negative values, a byte where packed.
#include <stdint.h>
#include <stdio.h>

enum plain { A, B, C };
enum signs { MINUS = -1, ZERO };
enum __attribute__((packed)) small { P = 200, Q };

int main(void) {
    int64_t out[8];
    enum small kinds[8] = {P, Q, P, P, Q, Q, P, Q};
#pragma omp target map(to: kinds) map(from: out)
#pragma omp parallel for num_threads(2)
    for (int i = 0; i < 8; i++) {
        enum plain u = (enum plain)(i - 3);
        enum signs s = (enum signs)(i - 3);
        enum small q = (enum small)(kinds[i] + i * 20);
        out[i] = (u > -1) + (u >> 1) + (s < ZERO) * 3 + (s >> 1) + q * (int64_t)1000;
        out[i] += kinds[i] == Q ? A : MINUS < A ? C : B;
    }
    for (int i = 0; i < 8; i++) {
        printf("%ld ", (long)out[i]);
    }
    printf("\n");
    return 0;
}
