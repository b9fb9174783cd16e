/* A matrix and its transpose times a vector each. FOLLOWED: both loops turned round; one of them
   alone saves nothing. */
#define N 24
void kernel(double x[N], double y[N], double u[N], double v[N], double A[N][N]) {
#ifdef REWRITTEN
    int row = 0;
    while (row < N) {
        int column = 0;
        while (column < N) {
            int at = column;
            x[row] = x[row] + A[row][at] * u[at];
            column += 1;
        }
        row += 1;
    }
    int other = 0;
    while (other < N) {
        int column = 0;
        while (column < N) {
            y[other] = y[other] + A[column][other] * v[column];
            column++;
        }
        other++;
    }
#elif defined FOLLOWED
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++)
            x[i] = x[i] + A[i][j] * u[j];
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++)
            y[i] = y[i] + A[j][i] * v[j];
#else
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            x[i] = x[i] + A[i][j] * u[j];
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            y[i] = y[i] + A[j][i] * v[j];
#endif
}
