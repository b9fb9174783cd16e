#ifndef CYCLESCOPE_STRINGS_H
#define CYCLESCOPE_STRINGS_H
#include <string.h>
#endif
