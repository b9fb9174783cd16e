#ifndef CYCLESCOPE_SYS_RESOURCE_H
#define CYCLESCOPE_SYS_RESOURCE_H
#include <sys/types.h>
#endif
