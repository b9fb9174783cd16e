#ifndef CYCLESCOPE_INTTYPES_H
#define CYCLESCOPE_INTTYPES_H
#include <stdint.h>
#define PRId64 "ld"
#define PRIu64 "lu"
#endif
