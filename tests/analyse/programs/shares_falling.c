/* The first rounds are the longest. */
#define N 48
#define LENGTH(i) (8 * (N - (i)))
#include "shares.h"
