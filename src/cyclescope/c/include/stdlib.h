#ifndef CYCLESCOPE_STDLIB_H
#define CYCLESCOPE_STDLIB_H
#include <stddef.h>
#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
#define RAND_MAX 2147483647
void *malloc(size_t);
void *calloc(size_t, size_t);
void *realloc(void *, size_t);
void free(void *);
int posix_memalign(void **, size_t, size_t);
void *aligned_alloc(size_t, size_t);
void exit(int);
void abort(void);
int atoi(const char *);
double atof(const char *);
int rand(void);
void srand(unsigned);
int abs(int);
long labs(long);
char *getenv(const char *);
#endif
