/* Prints arrays, so that programs have something to say. */
#ifndef SHOW_H
#define SHOW_H
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define SHOW(format, array, count)                         \
    do {                                                   \
        for (int show_i = 0; show_i < (count); ++show_i)   \
            printf(format " ", (array)[show_i]);           \
        printf("\n");                                      \
    } while (0)
#endif
