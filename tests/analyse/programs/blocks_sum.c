/* Blocks that are added up. */
#define REPEAT 2
#define WORK(sum, v) ((sum) + (v))
#include "blocks.h"
