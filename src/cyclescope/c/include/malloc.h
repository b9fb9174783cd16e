#ifndef CYCLESCOPE_MALLOC_H
#define CYCLESCOPE_MALLOC_H
#include <stdlib.h>
#endif
