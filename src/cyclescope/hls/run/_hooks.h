/* Hooks around the target region, in place of its mapping: each time that the host comes to it they
   write its data to a file before and after it, or read them from a file instead of running it. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cyclescope_item {
    void *data;
    uint64_t bytes;
    int is_array;
    int is_result;
    uint64_t element; /* bytes of what it is an array of, and the pointers in there */
    int count;
    const struct cyclescope_cell *cells;
    int is_heap;           /* the blocks that pointers lead to, one after another */
    int heap;              /* of a scalar: it says where in that item, from 1 on, this place is */
    char *root;
    uint64_t extent;
    char *own;             /* of an array with pointers: the host's; `data` has offsets then */
    struct cyclescope_part **parts; /* of a heap: what is in it */
    uint64_t used, room;
};

struct cyclescope_cell {
    uint64_t at;
    int heap;     /* which item it leads to, from 1 on */
    int is_whole; /* to objects of that item's type, not to parts of them */
};

struct cyclescope_part {
    char *begin;
    uint64_t bytes, base;
    int heap;       /* which item it is in, from 1 on; 0: in none */
    uint64_t phase; /* what is in front of the first element */
    int is_phased;  /* whether that is known */
};

/* The null pointer; in memories it is zero. */
#define CYCLESCOPE_NULL (1ull << 63)
/* One that leads to nothing that is known: who follows it leaves the memory. */
#define CYCLESCOPE_LOST (1ull << 61)

enum { CYCLESCOPE_NO_FILE = 121, CYCLESCOPE_BAD_FILE = 122, CYCLESCOPE_OVERLAP = 123, CYCLESCOPE_NOWHERE = 124 };

static FILE *cyclescope_file, *cyclescope_data; /* what is written, what is read */
static int cyclescope_reached; /* how often the host came to the region, as far as that counts */
static int cyclescope_taken; /* whether it has */

/* The blocks of memory that the program has: of a pointer that no clause maps, what it points to
   ends where the block does. The linker leads the calls here. */
static struct cyclescope_block {
    char *begin; /* NULL: never used; else the block's key, also where it has been freed */
    uint64_t bytes;
    int is_free;
} *cyclescope_blocks;
static uint64_t cyclescope_places, cyclescope_used; /* a hash table: a power of two, of them used */
static char cyclescope_busy;
void *__real_malloc(size_t);
void *__real_calloc(size_t, size_t);
void *__real_realloc(void *, size_t);
void *__real_aligned_alloc(size_t, size_t);
int __real_posix_memalign(void **, size_t, size_t);
void *__real_omp_target_alloc(size_t, int);
void __real_omp_target_free(void *, int);
void __real_free(void *);
static struct cyclescope_block *cyclescope_slot(char *begin) {
    uint64_t at = ((uint64_t)begin >> 4) * 0x9e3779b97f4a7c15u >> 20;
    while (cyclescope_blocks[at & (cyclescope_places - 1)].begin
           && cyclescope_blocks[at & (cyclescope_places - 1)].begin != begin)
        at++;
    return &cyclescope_blocks[at & (cyclescope_places - 1)];
}
static void cyclescope_grow(void) {
    struct cyclescope_block *before = cyclescope_blocks;
    uint64_t places = cyclescope_places, live = 0;
    for (uint64_t i = 0; i < places; i++)
        live += before[i].begin && !before[i].is_free;
    for (cyclescope_places = 64; cyclescope_places < 4 * live;)
        cyclescope_places *= 2;
    cyclescope_blocks = __real_calloc(cyclescope_places, sizeof *cyclescope_blocks);
    if (!cyclescope_blocks)
        abort();
    for (uint64_t i = 0; i < places; i++)
        if (before[i].begin && !before[i].is_free)
            *cyclescope_slot(before[i].begin) = before[i];
    cyclescope_used = live;
    __real_free(before);
}
/* A block is there now, or one is no longer; NULL: none. */
static void *cyclescope_note(void *gone, void *begin, uint64_t bytes) {
    while (__atomic_test_and_set(&cyclescope_busy, __ATOMIC_ACQUIRE))
        ;
    if (4 * cyclescope_used >= 3 * cyclescope_places)
        cyclescope_grow();
    if (gone && cyclescope_slot(gone)->begin)
        cyclescope_slot(gone)->is_free = 1;
    if (begin) {
        struct cyclescope_block *slot = cyclescope_slot(begin);
        cyclescope_used += !slot->begin;
        *slot = (struct cyclescope_block){begin, bytes, 0};
    }
    __atomic_clear(&cyclescope_busy, __ATOMIC_RELEASE);
    return begin;
}
void *__wrap_malloc(size_t n) { return cyclescope_note(NULL, __real_malloc(n), n); }
void *__wrap_calloc(size_t n, size_t each) {
    return cyclescope_note(NULL, __real_calloc(n, each), n * each);
}
void *__wrap_realloc(void *from, size_t n) {
    void *to = __real_realloc(from, n);
    return to ? cyclescope_note(from, to, n) : NULL;
}
void *__wrap_aligned_alloc(size_t to, size_t n) {
    return cyclescope_note(NULL, __real_aligned_alloc(to, n), n);
}
int __wrap_posix_memalign(void **at, size_t to, size_t n) {
    int status = __real_posix_memalign(at, to, n);
    if (!status)
        cyclescope_note(NULL, *at, n);
    return status;
}
void *__wrap_omp_target_alloc(size_t n, int device) {
    return cyclescope_note(NULL, __real_omp_target_alloc(n, device), n);
}
void __wrap_omp_target_free(void *from, int device) {
    if (from)
        cyclescope_note(from, NULL, 0);
    __real_omp_target_free(from, device);
}
void __wrap_free(void *from) {
    if (from)
        cyclescope_note(from, NULL, 0);
    __real_free(from);
}
/* The block that a place is in; none begins at NULL. */
static struct cyclescope_block cyclescope_block_of(char *at) {
    for (uint64_t i = 0; i < cyclescope_places; i++) {
        struct cyclescope_block one = cyclescope_blocks[i];
        if (!one.is_free && at >= one.begin && at < one.begin + one.bytes)
            return one;
    }
    return (struct cyclescope_block){0};
}
/* The bytes from a place to the end of its block; all ones: it is in none that is known. */
static uint64_t cyclescope_extent(void *at) {
    struct cyclescope_block found = cyclescope_block_of(at);
    if (!at)
        return 0;
    return found.begin ? found.bytes - (uint64_t)((char *)at - found.begin) : UINT64_MAX;
}

/* The memory from the first to the last byte of several parts; all ones bytes: one is nowhere. */
static struct cyclescope_part cyclescope_span(int count, const struct cyclescope_part *parts) {
    char *begin = parts[0].begin, *end = begin;
    for (int i = 0; i < count; i++) {
        if (parts[i].bytes == UINT64_MAX)
            return (struct cyclescope_part){begin, UINT64_MAX, 0, 0, 0, 0};
        if (parts[i].begin < begin)
            begin = parts[i].begin;
        if (parts[i].begin + parts[i].bytes > end)
            end = parts[i].begin + parts[i].bytes;
    }
    return (struct cyclescope_part){begin, (uint64_t)(end - begin), 0, 0, 0, 0};
}

/* A run may write to its own folder alone: files that the program makes are there for it, too. */
FILE *__real_fopen(const char *, const char *);
FILE *__wrap_fopen(const char *path, const char *mode) {
    char own[4096];
    const char *folder = getenv("CYCLESCOPE_HLS_FILES");
    int used = snprintf(own, sizeof own, "%s.%s", folder ? folder : "", path);
    if (!folder || used >= (int)sizeof own)
        return __real_fopen(path, mode);
    for (char *at = own + strlen(folder); *at; at++)
        if (*at == '/')
            *at = '_';
    FILE *file = __real_fopen(own, "r");
    if (file) {
        fclose(file);
        return __real_fopen(own, mode);
    }
    file = __real_fopen(path, mode);
    if (file || (errno != EACCES && errno != EPERM && errno != EROFS) || !strpbrk(mode, "wa"))
        return file;
    return __real_fopen(own, mode);
}

/* There is one device: what asks for one before it comes to the region finds it. */
int __wrap_omp_get_num_devices(void) { return 1; }

/* Threads are in the region. */
static int cyclescope_inside;

/* What the region has printed, and its words as the arguments that they are. */
static uint64_t cyclescope_printed[1 << 15];
static inline int cyclescope_int32(uint64_t word) { return (int32_t)word; }
static inline long cyclescope_int64(uint64_t word) { return (int64_t)word; }
static inline unsigned cyclescope_uint32(uint64_t word) { return (uint32_t)word; }
static inline unsigned long cyclescope_uint64(uint64_t word) { return word; }
static inline double cyclescope_float64(uint64_t word) {
    double real;
    memcpy(&real, &word, sizeof real);
    return real;
}
static void cyclescope_lost(void) {
    fprintf(stderr, "cyclescope: the region prints more than the buffer holds\n");
}

/* OpenMP has read what it must know of the region; the host's side is as it is by default. */
void omp_set_max_active_levels(int);
int omp_get_max_active_levels(void);
int omp_get_active_level(void);
static int cyclescope_levels;
static void __attribute__((constructor)) cyclescope_start(void) {
    cyclescope_levels = omp_get_max_active_levels();
    omp_set_max_active_levels(1);
    unsetenv("OMP_TARGET_OFFLOAD");
}

static const char *cyclescope_mode(void) {
    const char *mode = getenv("CYCLESCOPE_HLS_MODE");
    return mode ? mode : "";
}

/* Where the region's threads are in several teams, one team of the host's plays them all. */
int omp_get_thread_num(void);
int omp_get_num_threads(void);
int omp_get_team_num(void);
int omp_get_num_teams(void);
int omp_get_level(void);
int omp_get_max_threads(void);
int omp_in_parallel(void);
int omp_get_ancestor_thread_num(int);
static int cyclescope_threads(void);
static int cyclescope_teams(void) {
    const char *teams = getenv("CYCLESCOPE_HLS_TEAMS");
    return teams ? atoi(teams) : 1;
}
static int cyclescope_each(void) {
    const char *each = getenv("CYCLESCOPE_HLS_EACH");
    return each ? atoi(each) : cyclescope_threads();
}
static int cyclescope_team_thread(void) {
    if (!cyclescope_inside || omp_get_level() > 1)
        return omp_get_thread_num();
    return omp_get_thread_num() % cyclescope_each();
}
static int cyclescope_team_size(void) {
    if (!cyclescope_inside || omp_get_level() > 1)
        return omp_get_num_threads();
    return cyclescope_each();
}
static int cyclescope_team_most(void) {
    return cyclescope_inside ? cyclescope_each() : omp_get_max_threads();
}
static int cyclescope_team_is_parallel(void) {
    return cyclescope_inside ? cyclescope_each() > 1 : omp_in_parallel();
}
static int cyclescope_team(void) {
    return cyclescope_inside ? omp_get_ancestor_thread_num(1) / cyclescope_each() % cyclescope_teams()
                             : omp_get_team_num();
}
static int cyclescope_team_count(void) {
    return cyclescope_inside ? cyclescope_teams() : omp_get_num_teams();
}
#ifdef CYCLESCOPE_LEAGUE
#define omp_get_thread_num cyclescope_team_thread
#define omp_get_num_threads cyclescope_team_size
#define omp_get_max_threads cyclescope_team_most
#define omp_in_parallel cyclescope_team_is_parallel
#define omp_get_team_num cyclescope_team
#define omp_get_num_teams cyclescope_team_count
#endif

static int cyclescope_threads(void) {
    const char *threads = getenv("CYCLESCOPE_HLS_THREADS");
    return threads ? atoi(threads) : 1;
}

static void cyclescope_stop(int status) {
    fflush(NULL);
    _Exit(status);
}

static void cyclescope_write(const struct cyclescope_item *item) {
    if (fwrite(&item->bytes, sizeof item->bytes, 1, cyclescope_file) != 1
        || fwrite(item->data, 1, item->bytes, cyclescope_file) != item->bytes)
        cyclescope_stop(CYCLESCOPE_BAD_FILE);
}

static int cyclescope_number(const char *name) {
    const char *text = getenv(name);
    return text ? atoi(text) : 0;
}

/* Of what comes in excess of the times that are recorded the host says how many there are. */
static void __attribute__((destructor)) cyclescope_end(void) {
    char name[4096];
    const char *file = getenv("CYCLESCOPE_HLS_FILE");
    if (!file || cyclescope_reached <= cyclescope_number("CYCLESCOPE_HLS_TIMES")
        || snprintf(name, sizeof name, "%s.reached", file) >= (int)sizeof name)
        return;
    FILE *said = __real_fopen(name, "w");
    if (said) {
        fprintf(said, "%d", cyclescope_reached);
        fclose(said);
    }
}

/* Give the arrays the contents of a file; what has them already may be constant. */
static void cyclescope_restore(struct cyclescope_item *items, int count) {
    for (int i = 0; i < count; i++) {
        uint64_t bytes = 0;
        if (!items[i].is_array)
            continue;
        if (fread(&bytes, sizeof bytes, 1, cyclescope_data) != 1)
            cyclescope_stop(CYCLESCOPE_BAD_FILE);
        if (bytes != items[i].bytes) { /* another run's size: nothing can be compared */
            fseek(cyclescope_data, (long)bytes, SEEK_CUR);
            continue;
        }
        char part[4096];
        for (uint64_t at = 0; at < bytes; at += sizeof part) {
            char *place = (char *)items[i].data + at;
            size_t size = bytes - at < sizeof part ? bytes - at : sizeof part;
            if (fread(part, 1, size, cyclescope_data) != size)
                cyclescope_stop(CYCLESCOPE_BAD_FILE);
            if (memcmp(place, part, size))
                memcpy(place, part, size);
        }
    }
}

/* Where several of the host's threads come to the region, the first of them is who runs it in
   hardware, once, in each run of the program; unless it is in a construct that one of them executes.
   The others wait for it, a second at most: their writes to the same arrays come after its own. */
static _Thread_local int cyclescope_is_own, cyclescope_levels_before;
static int cyclescope_is_over;
int usleep(unsigned);
static int cyclescope_is_first(void) {
#ifndef CYCLESCOPE_ANY_THREAD
    for (int level = 1; level <= omp_get_level(); level++)
        if (omp_get_ancestor_thread_num(level)) {
            for (int i = 0; i < 10000 && !__atomic_load_n(&cyclescope_is_over, __ATOMIC_ACQUIRE); i++)
                usleep(100);
            return 0;
        }
#endif
    return !__atomic_exchange_n(&cyclescope_taken, 1, __ATOMIC_ACQ_REL) || !omp_get_active_level();
}

/* Say which items are at fault, and end. */
static void cyclescope_refuse(int status, int item, int other) {
    FILE *said = freopen(getenv("CYCLESCOPE_HLS_FILE"), "wb", cyclescope_file);
    if (!said || fprintf(said, "%d %d", item, other) < 0 || fclose(said))
        status = CYCLESCOPE_BAD_FILE;
    cyclescope_stop(status);
}

/* A mapped array must lie apart from the others, and somewhere. */
static void cyclescope_check(const struct cyclescope_item *items, int count) {
    for (int i = 0; i < count; i++) {
        if (items[i].bytes == UINT64_MAX)
            cyclescope_refuse(CYCLESCOPE_NOWHERE, i, i);
        if (!items[i].is_array)
            continue;
        for (int j = 0; j < i; j++) {
            char *a = items[i].data, *b = items[j].data;
            if (items[j].is_array && a < b + items[j].bytes && b < a + items[i].bytes)
                cyclescope_refuse(CYCLESCOPE_OVERLAP, j, i);
        }
    }
}

/* The blocks that pointers may lead to, by their addresses. */
static struct cyclescope_part **cyclescope_known;
static uint64_t cyclescope_known_count, cyclescope_known_room;
extern char __executable_start[], _end[]; /* the linker's: no program may have such names */
static int cyclescope_compare(const void *a, const void *b) {
    const struct cyclescope_part *x = *(struct cyclescope_part *const *)a;
    const struct cyclescope_part *y = *(struct cyclescope_part *const *)b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return x->bytes < y->bytes ? 1 : x->bytes > y->bytes ? -1 : 0; /* the larger one comes first */
}
/* The block that a place is in, or that ends there; NULL: none. */
static struct cyclescope_part *cyclescope_find(char *at) {
    uint64_t low = 0, high = cyclescope_known_count;
    while (low < high) {
        uint64_t middle = (low + high) / 2;
        if (cyclescope_known[middle]->begin <= at)
            low = middle + 1;
        else
            high = middle;
    }
    struct cyclescope_part *found = low ? cyclescope_known[low - 1] : NULL;
    return found && at <= found->begin + found->bytes ? found : NULL;
}
/* A block is known; they stay in the order of their addresses if they are. */
static struct cyclescope_part *cyclescope_add(char *begin, uint64_t bytes, int is_sorted) {
    if (cyclescope_known_count == cyclescope_known_room) {
        struct cyclescope_part **more =
            __real_realloc(cyclescope_known, 2 * (cyclescope_known_room + 64) * sizeof *more);
        if (!more)
            abort();
        cyclescope_known = more;
        cyclescope_known_room = 2 * (cyclescope_known_room + 64);
    }
    struct cyclescope_part *part = __real_calloc(1, sizeof *part);
    if (!part)
        abort();
    *part = (struct cyclescope_part){begin, bytes, 0, 0, 0, 0};
    uint64_t at = cyclescope_known_count++;
    for (; is_sorted && at && cyclescope_compare(&cyclescope_known[at - 1], &part) > 0; at--)
        cyclescope_known[at] = cyclescope_known[at - 1];
    cyclescope_known[at] = part;
    return part;
}
static void cyclescope_follow(struct cyclescope_item *items, int count, const struct cyclescope_item *of,
                              char *data, uint64_t bytes);
/* Something leads to a place: its block is in that heap. */
static void cyclescope_lead(struct cyclescope_item *items, int count, int heap, char *at, int is_whole) {
    struct cyclescope_item *to = &items[heap - 1];
    struct cyclescope_part *part = at ? cyclescope_find(at) : NULL;
    /* Of the program's own objects only strings have no name. */
    if (to->element == 1 && at >= __executable_start && at < _end
        && (!part || at == part->begin + part->bytes))
        part = cyclescope_add(at, strlen(at) + 1, 1);
    if (!part)
        return;
    if (part->heap == heap) {
        if (is_whole && !part->is_phased) {
            part->is_phased = 1;
            part->phase = (uint64_t)(at - part->begin) % to->element;
            if (part->phase)
                cyclescope_follow(items, count, to, part->begin + part->phase, part->bytes - part->phase);
        }
        return;
    }
    if (part->heap)
        cyclescope_refuse(CYCLESCOPE_OVERLAP, part->heap - 1, heap - 1);
    for (int j = 0; j < count; j++) {
        char *other = items[j].own ? items[j].own : items[j].data;
        if (items[j].is_array && !items[j].is_heap && other < part->begin + part->bytes
            && part->begin < other + items[j].bytes)
            cyclescope_refuse(CYCLESCOPE_OVERLAP, j, heap - 1);
    }
    part->heap = heap;
    part->is_phased = is_whole;
    part->phase = is_whole ? (uint64_t)(at - part->begin) % to->element : 0;
    part->base = to->bytes;
    to->bytes += (part->bytes + 63) / 64 * 64 + 64; /* apart, so that the end of one is in none */
    if (to->used == to->room) {
        to->room = to->room ? 2 * to->room : 64;
        to->parts = __real_realloc(to->parts, to->room * sizeof *to->parts);
        if (!to->parts)
            abort();
    }
    to->parts[to->used++] = part;
}
static void cyclescope_follow(struct cyclescope_item *items, int count, const struct cyclescope_item *of,
                              char *data, uint64_t bytes) {
    for (uint64_t at = 0; of->count && at + of->element <= bytes; at += of->element)
        for (int n = 0; n < of->count; n++)
            cyclescope_lead(items, count, of->cells[n].heap, *(char **)(data + at + of->cells[n].at),
                            of->cells[n].is_whole);
}
/* What pointers lead to comes into heaps; arrays with pointers get data of their own. */
static void cyclescope_view(struct cyclescope_item *items, int count) {
    int any = 0;
    for (int i = 0; i < count; i++)
        any = any || items[i].is_heap;
    if (!any)
        return;
    for (uint64_t i = 0; i < cyclescope_places; i++)
        if (cyclescope_blocks[i].begin && !cyclescope_blocks[i].is_free)
            cyclescope_add(cyclescope_blocks[i].begin, cyclescope_blocks[i].bytes, 0);
    for (int i = 0; i < count; i++)
        if (items[i].heap && items[i].root && items[i].extent && items[i].extent != UINT64_MAX
            && !cyclescope_block_of(items[i].root).begin)
            cyclescope_add(items[i].root, items[i].extent, 0);
    qsort(cyclescope_known, cyclescope_known_count, sizeof *cyclescope_known, cyclescope_compare);
    for (int i = 0; i < count; i++) {
        if (items[i].is_heap)
            items[i].bytes = 64;
        else if (items[i].count)
            items[i].own = items[i].data;
    }
    for (int i = 0; i < count; i++) {
        if (items[i].heap)
            cyclescope_lead(items, count, items[i].heap, items[i].root, 1);
        if (items[i].own)
            cyclescope_follow(items, count, &items[i], items[i].own, items[i].bytes);
    }
    uint64_t done[count + 1];
    memset(done, 0, sizeof done);
    for (int more = 1; more;) {
        more = 0;
        for (int i = 0; i < count; i++)
            for (; items[i].is_heap && done[i] < items[i].used; done[i]++, more = 1) {
                struct cyclescope_part part = *items[i].parts[done[i]];
                cyclescope_follow(items, count, &items[i], part.begin + part.phase, part.bytes - part.phase);
            }
    }
    for (int i = 0; i < count; i++)
        if (items[i].is_heap || items[i].own) {
            items[i].data = __real_calloc(items[i].bytes + 8, 1);
            if (!items[i].data)
                abort();
        }
    for (int i = 0; i < count; i++)
        if (items[i].heap) {
            struct cyclescope_part *part = items[i].root ? cyclescope_find(items[i].root) : NULL;
            *(uint64_t *)items[i].data =
                part && part->heap == items[i].heap ? part->base + (uint64_t)(items[i].root - part->begin)
                : items[i].root ? CYCLESCOPE_LOST : CYCLESCOPE_NULL;
        }
}
/* A pointer as the hardware has it in a memory. */
static uint64_t cyclescope_inward(const struct cyclescope_cell *cell, char *at) {
    if (!at)
        return 0;
    struct cyclescope_part *part = cyclescope_find(at);
    if (!part || part->heap != cell->heap)
        return CYCLESCOPE_LOST ^ CYCLESCOPE_NULL;
    return (part->base + (uint64_t)(at - part->begin)) ^ CYCLESCOPE_NULL;
}
/* The other way; what the hardware has not changed is as it was. */
static char *cyclescope_outward(const struct cyclescope_item *items, const struct cyclescope_cell *cell,
                                uint64_t bits, char *before) {
    const struct cyclescope_item *to = &items[cell->heap - 1];
    if (cyclescope_inward(cell, before) == bits)
        return before;
    uint64_t offset = bits ^ CYCLESCOPE_NULL, low = 0, high = to->used;
    while (low < high) {
        uint64_t middle = (low + high) / 2;
        if (to->parts[middle]->base <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    if (!bits || !low)
        return NULL;
    struct cyclescope_part part = *to->parts[low - 1];
    return offset - part.base <= part.bytes ? part.begin + (offset - part.base) : NULL;
}
static void cyclescope_inwards(const struct cyclescope_item *of, char *data, uint64_t from, uint64_t bytes) {
    for (uint64_t at = from; of->count && at + of->element <= bytes; at += of->element)
        for (int n = 0; n < of->count; n++) {
            char *cell = data + at + of->cells[n].at, *pointer;
            memcpy(&pointer, cell, sizeof pointer);
            uint64_t bits = cyclescope_inward(&of->cells[n], pointer);
            memcpy(cell, &bits, sizeof bits);
        }
}
static void cyclescope_outwards(const struct cyclescope_item *items, const struct cyclescope_item *of,
                                const char *data, char *to, uint64_t from, uint64_t bytes) {
    char *made = __real_calloc(bytes + 8, 1);
    if (!made)
        abort();
    memcpy(made, data, bytes);
    for (uint64_t at = from; of->count && at + of->element <= bytes; at += of->element)
        for (int n = 0; n < of->count; n++) {
            char *cell = made + at + of->cells[n].at, *before;
            uint64_t bits;
            memcpy(&bits, cell, sizeof bits);
            memcpy(&before, to + at + of->cells[n].at, sizeof before);
            before = cyclescope_outward(items, &of->cells[n], bits, before);
            memcpy(cell, &before, sizeof before);
        }
    if (memcmp(to, made, bytes)) /* what is as it was may be constant */
        memcpy(to, made, bytes);
    __real_free(made);
}
/* What the host has now. */
static void cyclescope_gather(struct cyclescope_item *items, int count) {
    for (int i = 0; i < count; i++) {
        struct cyclescope_item *one = &items[i];
        for (uint64_t n = 0; one->is_heap && n < one->used; n++) {
            struct cyclescope_part part = *one->parts[n];
            memcpy((char *)one->data + part.base, part.begin, part.bytes);
            cyclescope_inwards(one, (char *)one->data + part.base, part.phase, part.bytes);
        }
        if (one->own) {
            memcpy(one->data, one->own, one->bytes);
            cyclescope_inwards(one, one->data, 0, one->bytes);
        }
    }
}
/* What the hardware has made of it. */
static void cyclescope_scatter(struct cyclescope_item *items, int count) {
    for (int i = 0; i < count; i++) {
        struct cyclescope_item *one = &items[i];
        for (uint64_t n = 0; one->is_heap && n < one->used; n++) {
            struct cyclescope_part part = *one->parts[n];
            cyclescope_outwards(items, one, (char *)one->data + part.base, part.begin, part.phase, part.bytes);
        }
        if (one->own)
            cyclescope_outwards(items, one, one->data, one->own, 0, one->bytes);
    }
}

/* Begin the region; 1 if it has been replaced by recorded results. "record" writes down what is
   before and after it, as often as may be; "given" too, with the arrays' contents before it from a
   file. "replay" has its results from there, "resume" also what was before; both write down the
   first time that has none, and end there. */
static int cyclescope_enter(struct cyclescope_item *items, int count) {
    __atomic_fetch_add(&cyclescope_inside, 1, __ATOMIC_ACQ_REL);
    /* A parallel region inside the region has a team of one thread. */
    cyclescope_levels_before = omp_get_max_active_levels();
    omp_set_max_active_levels(omp_get_active_level() + cyclescope_levels);
    cyclescope_is_own = *cyclescope_mode() && cyclescope_is_first();
    if (!cyclescope_is_own)
        return 0;
    int number = cyclescope_reached++, is_given = number < cyclescope_number("CYCLESCOPE_HLS_GIVEN");
    int resume = !strcmp(cyclescope_mode(), "resume");
    int replay = resume || !strcmp(cyclescope_mode(), "replay");
    if (number >= cyclescope_number("CYCLESCOPE_HLS_TIMES")) {
        cyclescope_is_own = 0;
        return 0;
    }
    if (!cyclescope_file) {
        cyclescope_file = __real_fopen(getenv("CYCLESCOPE_HLS_FILE"), "wb");
        cyclescope_data = __real_fopen(getenv("CYCLESCOPE_HLS_DATA"), "rb");
        if (!cyclescope_file || !cyclescope_data)
            cyclescope_stop(CYCLESCOPE_NO_FILE);
    }
    memset(cyclescope_printed, 0, sizeof cyclescope_printed);
    cyclescope_check(items, count);
    cyclescope_view(items, count);
    cyclescope_gather(items, count);
    if (is_given && (resume || !replay)) {
        cyclescope_restore(items, count);
        cyclescope_scatter(items, count);
    }
    for (int i = 0; i < count; i++) {
        if (!replay || !is_given) {
            cyclescope_write(&items[i]);
        } else if (items[i].is_array) {
            uint64_t bytes = 0;
            if (fread(&bytes, sizeof bytes, 1, cyclescope_data) != 1 || bytes != items[i].bytes)
                cyclescope_stop(CYCLESCOPE_BAD_FILE);
            if (!items[i].is_result)
                fseek(cyclescope_data, (long)bytes, SEEK_CUR);
            else if (fread(items[i].data, 1, bytes, cyclescope_data) != bytes)
                cyclescope_stop(CYCLESCOPE_BAD_FILE);
        }
    }
    if (replay && is_given)
        cyclescope_scatter(items, count);
    /* What has been recorded must be there to read if the region never ends. */
    if (fflush(cyclescope_file))
        cyclescope_stop(CYCLESCOPE_BAD_FILE);
    if (replay && !is_given)
        cyclescope_stop(0);
    return replay;
}

static void cyclescope_leave(struct cyclescope_item *items, int count) {
    __atomic_fetch_sub(&cyclescope_inside, 1, __ATOMIC_ACQ_REL);
    omp_set_max_active_levels(cyclescope_levels_before);
    if (!cyclescope_is_own)
        return;
    cyclescope_is_own = 0;
    cyclescope_gather(items, count);
    if (!strcmp(cyclescope_mode(), "record") || !strcmp(cyclescope_mode(), "given"))
        for (int i = 0; i < count; i++)
            if (items[i].is_array)
                cyclescope_write(&items[i]);
    for (int i = 0; i < count; i++)
        if (items[i].own || items[i].is_heap) {
            __real_free(items[i].data);
            __real_free(items[i].parts);
        }
    for (uint64_t n = 0; n < cyclescope_known_count; n++)
        __real_free(cyclescope_known[n]);
    __real_free(cyclescope_known);
    cyclescope_known = NULL;
    cyclescope_known_count = cyclescope_known_room = 0;
    if (fflush(cyclescope_file))
        cyclescope_stop(CYCLESCOPE_BAD_FILE);
    __atomic_store_n(&cyclescope_is_over, 1, __ATOMIC_RELEASE);
}
