// Jumps forward out of nested statements, and back; static locals; pointers that point later.
#include <stdio.h>

static int table(int n) {
    static const int t[] = {3, 1, 4, 1, 5, [9] = -2};
    return t[n % 10];
}
static int found(const int *a, int n, int what) {
    int i, j, r = 0;
    for (i = 0; i < n; i++) {
        for (j = 0; j <= i; j++) {
            if (a[i] + a[j] == what)
                goto out;
            if (a[j] > 9)
                goto next;
            r++;
        }
        r += 100;
    next:;
    }
    if (what > 5)
        goto none;
    r = 1000;
out:
    r += i;
    return r;
none:
    return -1;
}
static int again(int n) {
    int s = 0, left = n;
once_more:
    s += n;
    if (s & 1) {
        n += 3;
        if (s < 500)
            goto once_more;
        goto last;
    }
    s += 2;
    switch (left) {
    case 3:
        goto last;
    case 5:
        s++;
    }
inner:
    left--;
    if (left > 4 && s < 900) {
        s += 7;
        goto inner;
    }
    if (n-- > 0 && s < 1000)
        goto once_more;
last:
    return s;
}
static int between(int a, int b) {
    int e = a - b, z;
    if (e > 4)
        goto first;
    if (e < 0)
        goto second;
    if (e == 3)
        goto third;
    return 1000 + a;
second:
    if (b == 9)
        return -b;
    e += 2;
third:
    z = b - e;
    goto end;
first:
    if (a == 8)
        return a;
    e -= 3;
fourth:;
    int y = a * e;
    z = y + 1;
    if (e-- > 0)
        goto fourth;
    z += y;
end:
    z--;
    return z;
}
int main(void) {
    int a[16], b[16], c[16];
    for (int i = 0; i < 16; i++)
        a[i] = i * 7 % 11;
#pragma omp target parallel for map(to: a) map(from: b, c) num_threads(4)
    for (int i = 0; i < 16; i++) {
        int *p;
        b[i] = found(a, 16, i) + table(i);
        if (i & 1)
            p = a;
        else
            p = &a[3];
        c[i] = again(i) + *p + 3 * between(a[i], i) + between(i, a[i]);
    }
    for (int i = 0; i < 16; i++)
        printf("%d %d\n", b[i], c[i]);
}
