/* What a program needs whose kernel reaches memory through moving pointers, or is called by the
 * user's own `main`. Included after `_runtime.h` and the shadows' declarations.
 */

/* ---- memory found by its address ------------------------------------------------------------- */

#if MOVING

/* Numbers in an element of a region: a storage with its own shadow. */
typedef struct {
    u64 start, width; /* bytes: where the first one begins, and of one */
    u32 storage, rank;
    struct { u64 extent, size; } dim[MAX_RANK];
    u64 inner; /* how many there are in an element */
} Leaf;

typedef struct {
    char *base;
    u64 bytes, element;
    const Leaf *leaf;
    u32 leaves;
} Region;

static Region region[MEMORIES + 1];
static TimeStamp **shadow_of[STORAGES + 1];

/* A number: its shadow, its storage (-1: unknown memory), bytes to its end. */
typedef struct {
    TimeStamp *time_stamp;
    int64_t storage;
    u64 left;
} Cell;

/* Memory of which nothing is known has a time stamp for each byte, in pages that come when used. */
enum { STRANGE = 1 << 12 };
typedef struct Page {
    struct Page *next;
    u64 number;
    TimeStamp time_stamp[STRANGE];
} Page;
static Page *page[1 << 12];

static Cell strange(char *at)
{
    u64 number = (u64)at / STRANGE;
    Page **list = &page[number % (1 << 12)], *own = *list;
    while (own && own->number != number)
        own = own->next;
    if (!own) {
        own = claim(1, sizeof *own);
        own->number = number;
        own->next = *list;
        *list = own;
    }
    return (Cell){&own->time_stamp[(u64)at % STRANGE], -1, 1};
}

static Cell find(char *at, u32 *hint)
{
    u32 n = *hint;
    if ((u64)(at - region[n].base) >= region[n].bytes) {
        for (n = 0; n < MEMORIES && (u64)(at - region[n].base) >= region[n].bytes; n++)
            ;
        if (n == MEMORIES)
            return strange(at);
        *hint = n;
    }
    const Region *own = &region[n];
    u64 offset = (u64)(at - own->base), element = offset / own->element, within = offset % own->element;
    for (const Leaf *leaf = own->leaf; leaf < own->leaf + own->leaves; leaf++) {
        u64 rest = within - leaf->start, index = 0;
        u32 d = 0;
        for (; d < leaf->rank && rest / leaf->dim[d].size < leaf->dim[d].extent; d++) {
            index = index * leaf->dim[d].extent + rest / leaf->dim[d].size;
            rest %= leaf->dim[d].size;
        }
        if (within >= leaf->start && d == leaf->rank && rest < leaf->width)
            return (Cell){*shadow_of[leaf->storage] + element * leaf->inner + index, leaf->storage, leaf->width - rest};
    }
    return strange(at); /* between fields */
}

#define EACH_AT(address, bytes, ...) do { \
    static u32 hint_; \
    char *at_ = (char *)(address), *end_ = at_ + (bytes); \
    while (at_ < end_) { \
        Cell cell_ = find(at_, &hint_); \
        __VA_ARGS__ \
        at_ += cell_.left; \
    } } while (0)
#define READ_AT(operand, address, bytes) EACH_AT(address, bytes, \
    READ(operand, *cell_.time_stamp); \
    if (cell_.storage >= 0) { u64 was_ = 0; SEE(was_, *cell_.time_stamp); seen[cell_.storage] |= was_ & 1; })
#define SEEN_AT(address, bytes) EACH_AT(address, bytes, \
    if (cell_.storage >= 0) { u64 was_ = 0; SEE(was_, *cell_.time_stamp); seen[cell_.storage] |= was_ & 1; })
#define WRITTEN_AT(address, bytes) EACH_AT(address, bytes, \
    WRITTEN(*cell_.time_stamp); \
    if (cell_.storage >= 0) seen[cell_.storage] |= WROTE;)
#define FREE_AT(address, bytes) EACH_AT(address, bytes, \
    FREE(*cell_.time_stamp); \
    if (cell_.storage >= 0) seen[cell_.storage] |= WROTE;)
#endif

/* ---- the user's own program ------------------------------------------------------------------- */

static void bind(void **args);
static void prepare(void);
static void conclude(void);
static void dump_values(u32 tag);
static void kernel(void **args);
__attribute__((noreturn)) static void leave(int code);

#if HOSTED
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int cyclescope_inside;

static struct {
    u64 absolute, unbounded, firings;
} *outcome; /* of the call at hand: shared with its child */
static FILE *calls;
static u64 call, longest, wanted, most_calls;
static char file_name[4096];
static struct timespec begun; /* the kernel's own run */

static const char *setting(const char *name)
{
    const char *value = getenv(name);
    if (!value)
        exit(4);
    return value;
}

static const char *result_of(u64 number)
{
    snprintf(file_name, sizeof file_name, "%s.%llu", setting("CYCLESCOPE_RESULT"), (unsigned long long)number);
    return file_name;
}

static void begin_result(const char *mode)
{
    if (!(result = fopen(result_of(call), mode)))
        _exit(4);
    setvbuf(result, 0, _IOFBF, 1 << 20);
}

/* What went wrong, for who reads the calls: a call's number that none has. */
__attribute__((noreturn)) static void failed(u64 code)
{
    u64 row[4] = {~0ull, code, 0, 0};
    fwrite(row, sizeof row, 1, calls);
    fclose(calls);
    _exit(5);
}

static int is_wanted(void) { return wanted ? call == wanted : call <= most_calls; }

/* Called where the user's program calls the kernel: the profiled run is a child's, on the same memory. */
void cyclescope_before(void **args)
{
    if (!calls) {
        outcome = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        calls = fopen(setting("CYCLESCOPE_CALLS"), "wb");
        wanted = strtoull(setting("CYCLESCOPE_CALL"), 0, 10);
        most_calls = strtoull(setting("CYCLESCOPE_MOST"), 0, 10);
        load_parameters(setting("CYCLESCOPE_PARAMETERS"));
        if (!calls || outcome == MAP_FAILED)
            _exit(4);
    }
    call++;
    if (!is_wanted())
        return;
    bind(args);
    fflush(0);
    pid_t child = fork();
    if (child < 0)
        failed(4);
    if (!child) {
        begin_result("wb");
        prepare();
        kernel(args);
        leave(0);
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0)
        ;
    if (WIFSIGNALED(status))
        failed(100 + (u64)WTERMSIG(status));
    if (WEXITSTATUS(status) == 3)
        rename(result_of(call), setting("CYCLESCOPE_RESULT"));
    if (WEXITSTATUS(status))
        failed((u64)WEXITSTATUS(status));
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begun);
}

static void report_call(void)
{
    for (u32 p = 0; p < PROCESSES; p++) {
        if (!process[p].firings)
            continue;
        u64 absolute = process[p].last[0] + process[p].cost, unbounded = process[p].last[1] + process[p].cost;
        outcome->absolute = LARGER(outcome->absolute, absolute);
        outcome->unbounded = LARGER(outcome->unbounded, unbounded);
        outcome->firings += p < STATEMENTS ? process[p].firings : 0;
    }
}

/* The kernel's own run is over: what it left is what the profiled one must have left. */
void cyclescope_after(void **args, void *value)
{
    struct timespec ended;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ended);
    (void)args;
    if (!is_wanted())
        return;
    begin_result("ab");
    if (*parameter) { /* values are asked for */
        dump_values(R_PLAIN);
        if (value && RESULT_SIZE)
            put(R_PLAIN_RESULT, 0, 1, RESULT_SIZE, value);
    }
    u64 spent = (u64)(ended.tv_sec - begun.tv_sec) * 1000000000ull + (u64)ended.tv_nsec - (u64)begun.tv_nsec;
    put(R_PLAIN_TIME, 0, sizeof spent, 1, &spent);
    if (fclose(result))
        failed(4);
    u64 row[4] = {call, outcome->absolute, outcome->unbounded, outcome->firings};
    if (fwrite(row, sizeof row, 1, calls) != 1 || fflush(calls))
        failed(4);
    static u64 best;
    if (!longest || outcome->absolute > best) {
        if (longest)
            unlink(result_of(longest));
        longest = call;
        best = outcome->absolute;
    } else {
        unlink(result_of(call));
    }
    memset(outcome, 0, sizeof *outcome);
    if (wanted)
        _exit(0);
}

__attribute__((noreturn)) static void leave(int code)
{
    (void)code; /* a kernel that ends the program has still done what it did until then */
    conclude();
    report_call();
    _exit(fclose(result) ? 4 : 0);
}
#else
__attribute__((noreturn)) static void leave(int code)
{
    (void)code;
    conclude();
    exit(fclose(result) ? 4 : 0);
}
#endif
