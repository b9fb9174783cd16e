/* Blocks whose elements are weighed with what was before. */
#define REPEAT 1
#define WORK(sum, v) ((sum) * 0.5f + (v))
#include "blocks.h"
