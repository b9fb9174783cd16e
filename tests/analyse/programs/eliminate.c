/* Elimination by columns, then (FOLLOWED) by rows, in the order in which the matrix comes in. */
#define N 24
void kernel(double M[N][N]) {
#ifdef REWRITTEN
    int step = 0;
    while (step < N) {
        int c = step + 1;
        while (c < N) {
            M[step][c] = M[step][c] / M[step][step];
            c++;
        }
        int column = step + 1;
        while (column < N) {
            int row = step + 1;
            while (row < N) {
                M[row][column] = M[row][column] - M[row][step] * M[step][column];
                row++;
            }
            column++;
        }
        step++;
    }
#else
    for (int k = 0; k < N; k++) {
        for (int j = k + 1; j < N; j++)
            M[k][j] = M[k][j] / M[k][k];
#ifdef FOLLOWED
        for (int i = k + 1; i < N; i++)
            for (int j = k + 1; j < N; j++)
#else
        for (int j = k + 1; j < N; j++)
            for (int i = k + 1; i < N; i++)
#endif
                M[i][j] = M[i][j] - M[i][k] * M[k][j];
    }
#endif
}
