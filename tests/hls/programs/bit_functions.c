/* The compiler's functions that count and find bits, of all widths, and of bits here and there. */
#include "show.h"
#include <strings.h>

enum { N = 40, FUNCTIONS = 20 };
unsigned long in[N];
int out[N][FUNCTIONS];
unsigned long turned[N][3];
unsigned short small[N];

int main(void) {
    unsigned long state = 88172645463325252ul;
    for (int i = 0; i < N; i++) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        in[i] = i < 32 ? state >> 2 * i : i < 36 ? 1ul << (i - 32) * 21 : 0ul - (1ul << i);
    }
    in[5] = 0, in[6] = ~0ul, in[7] = 1, in[8] = 1ul << 63, in[9] = 1ul << 31, in[10] = 1ul << 32;
    int fixed = __builtin_popcount(77);
#pragma omp target parallel for map(to: in) map(from: out, turned, small)
    for (int i = 0; i < N; i++) {
        unsigned long x = in[i];
        unsigned y = x;
        long long z = x | 1ul << i;
        int *o = out[i];
        o[0] = __builtin_popcount(y);
        o[1] = __builtin_popcountl(x);
        o[2] = __builtin_popcountll(z);
        o[3] = __builtin_parity(y);
        o[4] = __builtin_parityl(x);
        o[5] = __builtin_parityll(z);
        o[6] = y ? __builtin_clz(y) : -1;
        o[7] = x ? __builtin_clzl(x) : -1;
        o[8] = __builtin_clzll(z);
        o[9] = y ? __builtin_ctz(y) : -1;
        o[10] = x ? __builtin_ctzl(x) : -1;
        o[11] = __builtin_ctzll(z);
        o[12] = __builtin_ffs(y) + 100 * ffs(z);
        o[13] = __builtin_ffsl(x);
        o[14] = __builtin_ffsll(z << i);
        o[15] = __builtin_clrsb(y);
        o[16] = __builtin_clrsbl(x);
        o[17] = __builtin_clrsbll(~z);
        o[18] = fixed + __builtin_popcount(0xF0F0 + 3) + __builtin_clz(1) + __builtin_ffs(0);
        o[19] = __builtin_expect(i % 3 == 0, 0) ? i : __builtin_popcount((signed char)y);
        turned[i][0] = __builtin_bswap32(y);
        turned[i][1] = __builtin_bswap64(x);
        turned[i][2] = __builtin_bswap16(y >> 3);
        small[i] = __builtin_bswap16(x);
    }
    SHOW("%d", (int *)out, N * FUNCTIONS);
    SHOW("%lu", (unsigned long *)turned, N * 3);
    SHOW("%d", small, N);
}
