/* Sums of rows, each over the one before. FOLLOWED: all rows' sums advance together. */
#define R 16
#define C 40
void kernel(double a[C][R], double s[R]) {
#ifdef REWRITTEN
    int r = 0;
    while (r < R) {
        int at = 0;
        while (at < C) {
            s[r] = s[r] * 0.5 + a[at][r];
            at = at + 1;
        }
        r = r + 1;
    }
#elif defined FOLLOWED
    for (int c = 0; c < C; c++)
        for (int r = 0; r < R; r++)
            s[r] = s[r] * 0.5 + a[c][r];
#else
    for (int r = 0; r < R; r++)
        for (int c = 0; c < C; c++)
            s[r] = s[r] * 0.5 + a[c][r];
#endif
}
