/* Round i has so many steps. */
#define N 64
#define LENGTH(i) (i)
#include "shares.h"
