/* The last quarter of all rounds has most of the work. */
#define N 64
#define LENGTH(i) ((i) >= 48 ? 160 : 20)
#include "shares.h"
