/* Dynamic programming over intervals. */
#ifndef T
#define T 10
#endif
#ifndef L
#define L 32
#endif
#ifndef INT
#define INT int
#endif

void kernel_dynprog(INT c[L][L], INT W[L][L], INT sum_c[L][L][L], INT out[1])
{
    out[0] = 0;
    for (int iter = 0; iter < T; iter++) {
        for (int i = 0; i < L; i++)
            for (int j = 0; j < L; j++)
                c[i][j] = 0;
        for (int i = 0; i < L - 1; i++)
            for (int j = i + 1; j < L; j++) {
                sum_c[i][j][i] = 0;
                for (int k = i + 1; k < j; k++)
                    sum_c[i][j][k] = sum_c[i][j][k - 1] + c[i][k] + c[k][j];
                c[i][j] = sum_c[i][j][j - 1] + W[i][j];
            }
        out[0] += c[0][L - 1];
    }
}
