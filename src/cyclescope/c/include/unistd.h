#ifndef CYCLESCOPE_UNISTD_H
#define CYCLESCOPE_UNISTD_H
#include <sys/types.h>
unsigned sleep(unsigned);
#endif
