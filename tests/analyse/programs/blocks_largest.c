/* Blocks of which the largest elements are found, several times over. */
#define REPEAT 4
#define WORK(sum, v) ((v) > (sum) ? (v) : (sum))
#include "blocks.h"
