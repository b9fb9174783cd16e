/* All shortest paths. */
#ifndef N
#define N 32
#endif
#ifndef REAL
#define REAL double
#endif

void kernel_floyd_warshall(REAL path[N][N])
{
    for (int k = 0; k < N; k++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                path[i][j] = path[i][j] < path[i][k] + path[k][j] ? path[i][j] : path[i][k] + path[k][j];
}
