#ifndef CYCLESCOPE_SYS_STAT_H
#define CYCLESCOPE_SYS_STAT_H
#include <sys/types.h>
#endif
