/* An array that is cleared. */
#define N 96
#define WORK(i) (0 * (i))
#include "starts.h"
