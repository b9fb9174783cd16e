/* A matrix that is scaled by columns, though it comes in by rows (FOLLOWED: by rows). */
#define N 32
void kernel(double a[N][N], double f[N]) {
#ifdef REWRITTEN
    int column = 0;
    while (column < N) {
        int row = 0;
        while (row < N) {
            int here = row;
            a[here][column] = a[here][column] * f[column];
            row++;
        }
        column++;
    }
#elif defined FOLLOWED
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            a[i][j] = a[i][j] * f[j];
#else
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++)
            a[i][j] = a[i][j] * f[j];
#endif
}
