/* What every generated program shares: time stamps, what is recorded of a firing, input, output.
 *
 * Before it the program defines: STAMP (the unsigned type of a time stamp), ABSOLUTE and UNBOUNDED
 * (1 or 0: which estimates it keeps), DETAIL (1: who wrote what is kept as well), PROCESSES and
 * STORAGES (their numbers).
 *
 * A stamp is 2 t + g: t is the cycle from which the value can be read, g is 1 as long as the
 * kernel has not written it. So `seen |= stamp` over the reads of an array tells whether the
 * kernel reads something that it did not write: an input.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t u64;
typedef uint32_t u32;
typedef unsigned char u8;

typedef struct {
#if ABSOLUTE
    STAMP a;
#endif
#if UNBOUNDED
    STAMP u;
#endif
#if DETAIL
    u32 writer; /* number of the firing that wrote it, 0: none */
#endif
} Stamp;

enum { FAULT_INDEX = 1, FAULT_DIVISION = 2, FAULT_MEMORY = 3, FAULT_STAMP = 4, FAULT_DETAIL = 5 };

/* Records of the result file: what they hold is said where they are written. */
enum { R_FAULT = 1, R_PROCESS, R_START, R_WORK, R_SEEN, R_FINAL, R_INITIAL, R_DETAIL, R_TESTS, R_CALL };

static FILE *result;

static void put(u32 tag, u32 index, u32 size, u64 count, const void *data)
{
    u64 head[4] = {tag, index, size, count};
    if (fwrite(head, sizeof head, 1, result) != 1 || fwrite(data, size, count, result) != count) {
        fflush(result);
        exit(4);
    }
}

__attribute__((noreturn, cold, noinline)) static void fault(u64 kind, u64 statement, u64 storage, u64 dimension, int64_t value)
{
    u64 what[5] = {kind, statement, storage, dimension, (u64)value};
    put(R_FAULT, 0, sizeof(u64), 5, what);
    fclose(result);
    exit(3);
}

static void *claim(u64 count, u64 size)
{
    void *memory = calloc(count ? count : 1, size);
    if (!memory)
        fault(FAULT_MEMORY, 0, 0, 0, (int64_t)(count * size >> 20));
    return memory;
}

/* ---- parameters: one array of 64-bit words, read from a file ---------------------------------- */

static u64 *parameter;
static u64 latency_read, latency_write, memory_for_work, detail_limit;

static u64 next(void) { return *parameter++; }

/* ---- what is recorded of each process --------------------------------------------------------- */

typedef struct {
    u64 latency, interval, cost; /* cost: from start to readable result */
    u64 firings;
    u64 control; /* absolute: the cycle from which the resource is free */
    u64 first[2], last[2];
#if DETAIL
    u32 operands;
    u64 kept, room, reads;
    u32 *number, *writer;
    STAMP *start[2];
#endif
} Process;

static Process process[PROCESSES + 1];

/* Starts per cycle: exact while they fit, then work (cycles of execution) per 2^shift cycles. */
typedef struct {
    u8 *byte;  /* absolute: a process starts at most once a cycle */
    u32 *word; /* unbounded */
    u64 size;
} Starts;

static Starts starts[2][PROCESSES + 1];
static u64 *work[2][PROCESSES + 1];
static u32 shift[2];
static u64 bins; /* of `work` */
static u64 most[2]; /* longest exact array of starts */

static void add_work(int estimate, u64 p, u64 start, u64 count)
{
    u64 begin = start + latency_read, end = begin + process[p].latency;
    while ((end >> shift[estimate]) >= bins) {
        for (u64 q = 0; q < PROCESSES; q++) {
            u64 *row = work[estimate][q];
            for (u64 i = 0; i < bins; i++)
                row[i / 2] = i % 2 ? row[i / 2] + row[i] : row[i];
            memset(row + bins / 2, 0, bins / 2 * sizeof *row);
        }
        shift[estimate]++;
    }
    u64 bin = begin >> shift[estimate], edge = (bin + 1) << shift[estimate];
    if (end <= edge) {
        work[estimate][p][bin] += count * (end - begin);
    } else { /* a bin is longer than any latency: two suffice */
        work[estimate][p][bin] += count * (edge - begin);
        work[estimate][p][bin + 1] += count * (end - edge);
    }
}

__attribute__((cold, noinline)) static void coarsen(int estimate)
{
    u64 longest = 1;
    for (u64 p = 0; p < PROCESSES; p++)
        if (process[p].latency > longest)
            longest = process[p].latency;
    while ((1ull << shift[estimate]) < longest || (bins << shift[estimate]) < 2 * most[estimate])
        shift[estimate]++;
    for (u64 p = 0; p < PROCESSES; p++)
        work[estimate][p] = claim(bins + 1, sizeof(u64));
    for (u64 p = 0; p < PROCESSES; p++) {
        Starts *own = &starts[estimate][p];
        for (u64 t = 0; t < own->size; t++) {
            u64 count = estimate ? own->word[t] : own->byte[t];
            if (count)
                add_work(estimate, p, t, count);
        }
        free(estimate ? (void *)own->word : (void *)own->byte);
        memset(own, 0, sizeof *own);
    }
}

__attribute__((noinline)) static void record_beyond(int estimate, u64 p, u64 start)
{
    if (!shift[estimate] && start < most[estimate]) {
        Starts *own = &starts[estimate][p];
        u64 size = own->size ? own->size : 1024, width = estimate ? sizeof(u32) : 1;
        while (size <= start)
            size *= 2;
        if (size > most[estimate])
            size = most[estimate];
        u8 *larger = realloc(estimate ? (void *)own->word : (void *)own->byte, size * width);
        if (!larger)
            fault(FAULT_MEMORY, p, 0, 0, (int64_t)(size * width >> 20));
        memset(larger + own->size * width, 0, (size - own->size) * width);
        if (estimate)
            own->word = (u32 *)larger, own->word[start]++;
        else
            own->byte = larger, own->byte[start]++;
        own->size = size;
        return;
    }
    if (!shift[estimate])
        coarsen(estimate);
    add_work(estimate, p, start, 1);
}

#if DETAIL
static u32 firing; /* number of the latest firing */
static u64 firings_kept;

static void keep(u64 p, STAMP absolute, STAMP unbounded, const u32 *writers)
{
    Process *own = &process[p];
    if (++firings_kept > detail_limit)
        fault(FAULT_DETAIL, p, 0, 0, (int64_t)detail_limit);
    if (own->kept == own->room) {
        own->room = own->room ? 2 * own->room : 1024;
        own->number = realloc(own->number, own->room * sizeof(u32));
        own->start[0] = realloc(own->start[0], own->room * sizeof(STAMP));
        own->start[1] = realloc(own->start[1], own->room * sizeof(STAMP));
        own->writer = realloc(own->writer, (own->room * own->operands + 1) * sizeof(u32));
        if (!own->number || !own->start[0] || !own->start[1] || !own->writer)
            fault(FAULT_MEMORY, p, 0, 0, (int64_t)(own->room * 24 >> 20));
    }
    own->number[own->kept] = ++firing;
    own->start[0][own->kept] = absolute;
    own->start[1][own->kept] = unbounded;
    memcpy(own->writer + own->kept * own->operands, writers, own->operands * sizeof(u32));
    own->kept++;
}
#define READER(count) u32 writers[(count) + 1] = {0}
#define WRITER(o, s) writers[o] = (s).writer
#define KEEP(p, a, u) keep(p, a, u, writers)
#else
#define READER(count) (void)0
#define WRITER(o, s) (void)0
#define KEEP(p, a, u) (void)0
#endif

/* ---- one firing: BEGIN, READ for each operand, FIRE, STAMPED for each result ------------------ */

#define LARGER(x, y) ((x) > (y) ? (x) : (y))

#if ABSOLUTE
#define ON_ABSOLUTE(...) __VA_ARGS__
#else
#define ON_ABSOLUTE(...)
#endif
#if UNBOUNDED
#define ON_UNBOUNDED(...) __VA_ARGS__
#else
#define ON_UNBOUNDED(...)
#endif

#define BEGIN(operands) u64 ta = 0, tu = 0; READER(operands); (void)ta; (void)tu

#define READ(operand, s) do { \
    ON_ABSOLUTE(ta = LARGER(ta, (s).a);) \
    ON_UNBOUNDED(tu = LARGER(tu, (s).u);) \
    WRITER(operand, s); } while (0)

#if UNBOUNDED
#define SEE(flag, s) ((flag) |= (s).u)
#else
#define SEE(flag, s) ((flag) |= (s).a)
#endif

static inline void record(int estimate, u64 p, u64 start)
{
    Starts *own = &starts[estimate][p];
    if (__builtin_expect(start < own->size, 1)) {
        if (estimate)
            own->word[start]++;
        else
            own->byte[start]++;
    } else if (shift[estimate] && ((start + latency_read + process[p].latency) >> shift[estimate]) < bins) {
        u64 begin = start + latency_read, end = begin + process[p].latency;
        u64 bin = begin >> shift[estimate], edge = (bin + 1) << shift[estimate];
        u64 *row = work[estimate][p] + bin;
        u64 here = end <= edge ? end - begin : edge - begin;
        row[0] += here;
        row[1] += end - begin - here;
    } else {
        record_beyond(estimate, p, start);
    }
}

/* Leaves in ta and tu the stamps of the results. */
#define FIRE(p) do { \
    Process *own = &process[p]; \
    ON_ABSOLUTE( \
        ta >>= 1; ta = LARGER(ta, own->control); own->control = ta + own->interval; \
        if (!own->firings) own->first[0] = ta; \
        own->last[0] = ta; record(0, p, ta);) \
    ON_UNBOUNDED( \
        tu >>= 1; if (!own->firings || tu < own->first[1]) own->first[1] = tu; \
        own->last[1] = LARGER(own->last[1], tu); record(1, p, tu);) \
    own->firings++; \
    KEEP(p, (STAMP)ta, (STAMP)tu); \
    ta = (ta + own->cost) << 1; tu = (tu + own->cost) << 1; \
    if (sizeof(STAMP) < sizeof(u64) && __builtin_expect((ta | tu) >> 32 != 0, 0)) \
        fault(FAULT_STAMP, p, 0, 0, 0); \
    } while (0)

#if DETAIL
#define STAMPED(s) (ON_ABSOLUTE((s).a = (STAMP)ta,) ON_UNBOUNDED((s).u = (STAMP)tu,) (s).writer = firing)
#define FREE(s) (ON_ABSOLUTE((s).a = 0,) ON_UNBOUNDED((s).u = 0,) (s).writer = 0)
#else
#define STAMPED(s) (ON_ABSOLUTE((s).a = (STAMP)ta,) ON_UNBOUNDED((s).u = (STAMP)tu,) (void)0)
#define FREE(s) (ON_ABSOLUTE((s).a = 0,) ON_UNBOUNDED((s).u = 0,) (void)0)
#endif

/* A subscript inside its extent, as an unsigned offset. */
static inline u64 within(int64_t index, u64 extent, u64 statement, u64 storage, u64 dimension)
{
    if (__builtin_expect((u64)index >= extent, 0))
        fault(FAULT_INDEX, statement, storage, dimension, index);
    return (u64)index;
}

/* ---- sources and sinks ------------------------------------------------------------------------ */

#define MAX_RANK 16

typedef struct {
    u64 on; /* 0: none; 1: if the kernel reads what it did not write; 2: always */
    u64 process, rank, low[MAX_RANK], high[MAX_RANK], extent[MAX_RANK];
    u64 skips, *skip;
} Port;

static void read_port(Port *port)
{
    port->on = next();
    port->process = next();
    port->rank = next();
    for (u64 d = 0; d < port->rank; d++)
        port->extent[d] = next(), port->low[d] = next(), port->high[d] = next();
    port->skips = next();
    port->skip = parameter;
    parameter += port->skips;
}

/* The next element of the port's range in row-major order: its offset, or -1 after the last. */
typedef struct {
    u64 at[MAX_RANK];
    int begun;
} Walk;

static int64_t step(const Port *port, Walk *walk)
{
    for (;;) {
        if (!walk->begun) {
            walk->begun = 1;
            for (u64 d = 0; d < port->rank; d++) {
                walk->at[d] = port->low[d];
                if (port->low[d] >= port->high[d])
                    return -1;
            }
        } else {
            u64 d = port->rank;
            while (d > 0 && ++walk->at[d - 1] >= port->high[d - 1]) {
                walk->at[d - 1] = port->low[d - 1];
                d--;
            }
            if (d == 0)
                return -1;
        }
        u64 offset = 0, skipped = 0;
        for (u64 d = 0; d < port->rank; d++)
            offset = offset * port->extent[d] + walk->at[d];
        for (u64 i = 0; i < port->skips; i++)
            skipped |= port->skip[i] == offset;
        if (!skipped)
            return (int64_t)offset;
    }
}

static void unwritten(Stamp *shadow, u64 count)
{
    for (u64 i = 0; i < count; i++) {
        memset(&shadow[i], 0, sizeof(Stamp));
        ON_ABSOLUTE(shadow[i].a = 1;)
        ON_UNBOUNDED(shadow[i].u = 1;)
    }
}

static void feed(const Port *port, Stamp *shadow)
{
    Walk walk = {{0}, 0};
    int64_t offset;
    u64 p = port->process, n = 0;
    if (!port->on)
        return;
    while ((offset = step(port, &walk)) >= 0) {
        u64 start = n++ * process[p].interval;
        ON_ABSOLUTE(shadow[offset].a = (STAMP)((start + process[p].cost) << 1 | 1);)
        ON_UNBOUNDED(shadow[offset].u = (STAMP)(process[p].cost << 1 | 1);)
#if DETAIL
        keep(p, (STAMP)start, 0, 0);
        shadow[offset].writer = firing;
#else
        (void)start;
#endif
    }
}

static int is_fed(const Port *port, u64 seen)
{
    return port->on == 2 || (port->on == 1 && (seen & 1));
}

/* After the run, when it is known who is an input: what its source did. */
static void fed(const Port *port, u64 seen)
{
    Walk walk = {{0}, 0};
    u64 p = port->process;
    if (!is_fed(port, seen))
        return;
    while (step(port, &walk) >= 0) {
        ON_ABSOLUTE(record(0, p, process[p].last[0] = process[p].firings * process[p].interval);)
        ON_UNBOUNDED(record(1, p, 0);)
        process[p].firings++;
    }
}

/* Without a source, what the kernel did not write is there from the start. */
static void drain(const Port *port, const Stamp *shadow, int has_source)
{
    Walk walk = {{0}, 0};
    int64_t offset;
    if (!port->on)
        return;
    while ((offset = step(port, &walk)) >= 0) {
        BEGIN(1);
        u64 unwritten = 0;
        SEE(unwritten, shadow[offset]);
        if (has_source || !(unwritten & 1))
            READ(0, shadow[offset]);
        FIRE(port->process);
    }
}

/* ---- values ------------------------------------------------------------------------------------ */

/* Numbers that look like data: the same for the same place on every machine. */
static inline u64 scatter(u64 n)
{
    n = (n + 0x9e3779b97f4a7c15ull) * 0xbf58476d1ce4e5b9ull;
    return (n ^ n >> 29) * 0x94d049bb133111ebull >> 40;
}

#define FILL_FLOAT(values, count, seed) \
    for (u64 i = 0; i < (count); i++) (values)[i] = 0.5 + (double)scatter(i + ((u64)(seed) << 40)) / (1 << 24)
#define FILL_INT(values, count, seed) \
    for (u64 i = 0; i < (count); i++) (values)[i] = 1 + scatter(i + ((u64)(seed) << 40)) % 7

static void load_parameters(const char *name)
{
    FILE *file = fopen(name, "rb");
    long size;
    if (!file || fseek(file, 0, SEEK_END) || (size = ftell(file)) < 0)
        exit(4);
    rewind(file);
    parameter = claim((u64)size / 8, 8);
    if (fread(parameter, 8, (u64)size / 8, file) != (u64)size / 8)
        exit(4);
    fclose(file);
    latency_read = next();
    latency_write = next();
    memory_for_work = next();
    detail_limit = next();
    for (u64 p = 0; p < PROCESSES; p++) {
        process[p].latency = next();
        process[p].interval = next();
        process[p].cost = latency_read + process[p].latency + latency_write;
#if DETAIL
        process[p].operands = (u32)next();
#else
        (void)next();
#endif
    }
    /* Absolute starts take 1 byte a cycle, unbounded ones 4, coarse work 8 bytes a bin. */
    u64 share = memory_for_work / 2 / (PROCESSES ? PROCESSES : 1);
    most[0] = share < 4096 ? 4096 : share;
    most[1] = share < 16384 ? 4096 : share / 4;
    for (bins = 1024; bins * 2 * sizeof(u64) <= share && bins < (1 << 20);)
        bins *= 2;
}

static void put_processes(void)
{
    for (u32 p = 0; p < PROCESSES; p++) {
        u64 row[5] = {process[p].firings, process[p].first[0], process[p].last[0], process[p].first[1], process[p].last[1]};
        put(R_PROCESS, p, sizeof(u64), 5, row);
        for (int e = 0; e < 2; e++) {
            if (work[e][p]) {
                u64 head[1] = {shift[e]};
                put(R_WORK, 4 * p + 2 * (u32)e, sizeof(u64), 1, head);
                put(R_WORK, 4 * p + 2 * (u32)e + 1, sizeof(u64), bins, work[e][p]);
            } else {
                put(R_START, 2 * p + (u32)e, e ? 4 : 1, starts[e][p].size, e ? (void *)starts[e][p].word : (void *)starts[e][p].byte);
            }
        }
#if DETAIL
        put(R_DETAIL, 4 * p, sizeof(u32), process[p].kept, process[p].number);
        put(R_DETAIL, 4 * p + 1, sizeof(STAMP), process[p].kept, process[p].start[0]);
        put(R_DETAIL, 4 * p + 2, sizeof(STAMP), process[p].kept, process[p].start[1]);
        put(R_DETAIL, 4 * p + 3, sizeof(u32), process[p].kept * process[p].operands, process[p].writer);
#endif
    }
}
