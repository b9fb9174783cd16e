/* Remainders. */
#define N 32
#define WORK(i) ((i) * 21 % 16)
#include "starts.h"
