/* Bits that are mixed. */
#define N 128
#define WORK(i) (((i) ^ (i) >> 3) & 31)
#include "starts.h"
