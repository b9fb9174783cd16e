#ifndef CYCLESCOPE_TIME_H
#define CYCLESCOPE_TIME_H
#include <stddef.h>
typedef long time_t;
typedef long clock_t;
struct timespec { time_t tv_sec; long tv_nsec; };
time_t time(time_t *);
clock_t clock(void);
#define CLOCKS_PER_SEC 1000000L
#define CLOCK_MONOTONIC 1
int clock_gettime(int, struct timespec *);
#endif
