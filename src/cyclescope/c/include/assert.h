#undef assert
#define assert(condition) ((void)0)
#define static_assert _Static_assert
