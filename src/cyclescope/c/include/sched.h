#ifndef CYCLESCOPE_SCHED_H
#define CYCLESCOPE_SCHED_H
#include <stddef.h>
#endif
