/* Regularity detection. */
#ifndef T
#define T 10
#endif
#ifndef L
#define L 32
#endif
#ifndef G
#define G 2
#endif
#ifndef INT
#define INT int
#endif

void kernel_reg_detect(INT sum_tang[G][G], INT mean[G][G], INT path[G][G], INT diff[G][G][L], INT sum_diff[G][G][L])
{
    for (int t = 0; t < T; t++) {
        for (int j = 0; j < G; j++)
            for (int i = j; i < G; i++)
                for (int n = 0; n < L; n++)
                    diff[j][i][n] = sum_tang[j][i];
        for (int j = 0; j < G; j++)
            for (int i = j; i < G; i++) {
                sum_diff[j][i][0] = diff[j][i][0];
                for (int n = 1; n < L; n++)
                    sum_diff[j][i][n] = sum_diff[j][i][n - 1] + diff[j][i][n];
                mean[j][i] = sum_diff[j][i][L - 1];
            }
        for (int i = 0; i < G; i++)
            path[0][i] = mean[0][i];
        for (int j = 1; j < G; j++)
            for (int i = j; i < G; i++)
                path[j][i] = path[j - 1][i - 1] + mean[j][i];
    }
}
