/* Rounds get longer and longer. */
#define N 32
#define LENGTH(i) ((i) * (i))
#include "shares.h"
