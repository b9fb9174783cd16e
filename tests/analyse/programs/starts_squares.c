/* Squares. */
#define N 64
#define WORK(i) ((i) * (i))
#include "starts.h"
