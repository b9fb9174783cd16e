/* What every generated program shares: time stamps, what is recorded of a firing, input, output.
 *
 * Before it the program defines: TIME_STAMP (the unsigned type of a time stamp), ABSOLUTE and UNBOUNDED
 * (1 or 0: which estimates it keeps), LIMITED (1: of UNBOUNDED's resources there are only as many as
 * a parameter says), DETAIL (1: who wrote what is kept as well), TRACE (1, with DETAIL: each firing's values,
 * too), PROCESSES and STORAGES (their numbers).
 *
 * A time stamp is 2 t + g: t is the cycle from which the value can be read, g is 1 as long as the
 * kernel has not written it. So the `|` of all time stamps over the reads of an array tells whether the
 * kernel reads something that it did not write: an input.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t u64;
typedef uint32_t u32;
typedef unsigned char u8;

#ifdef __TINYC__ /* it compiles many small programs in a fraction of the time, but has no builtins */
static int ones_(u64 v) { int n = 0; for (; v; v &= v - 1) n++; return n; }
static int last_(u64 v) { int n = 0; for (; !(v & 1); v >>= 1) n++; return n; }
static int lead_(u64 v) { int n = 0; for (; !(v >> 63); v <<= 1) n++; return n; }
#define __builtin_popcountll ones_
#define __builtin_ctzll last_
#define __builtin_clzll lead_
#endif

typedef struct {
#if ABSOLUTE
    TIME_STAMP a;
#endif
#if UNBOUNDED
    TIME_STAMP u;
#endif
#if DETAIL
    u64 token; /* the firing that wrote it: its number, and above 32 bits its process, from 1; 0: none */
#endif
#if TRACE
    u32 target; /* which of that firing's results it is */
#endif
} TimeStamp;

enum { FAULT_INDEX = 1, FAULT_DIVISION = 2, FAULT_MEMORY = 3, FAULT_TIME_STAMP = 4, FAULT_DETAIL = 5 };

/* Records of the result file: what they hold is said where they are written. */
enum { R_FAULT = 1, R_PROCESS, R_START, R_WORK, R_SEEN, R_FINAL, R_INITIAL, R_TESTS, R_TAKEN, R_EDGE, R_LINK, R_SKIPPED, R_WAITS, R_TRACE };

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
static u64 latency_read, latency_write, memory_for_work, detail_limit, resources;

static u64 next(void) { return *parameter++; }

/* ---- what is recorded of each process --------------------------------------------------------- */

/* What the free resource waited for an operand, which came last: cycles, and how many firings did. */
typedef struct {
    u64 late[2], delayed[2];
} Wait;

typedef struct {
    u64 latency, interval, cost; /* cost: from start to readable result */
    int is_source;
    u64 firings;
    u64 control; /* absolute: the cycle from which the resource is free */
    u64 first[2], last[2];
    u64 taken; /* absolute: cycles for which operands lay ready and the resource was taken */
    u32 operands;
#if LIMITED
    u64 *free, pool, room; /* the cycles from which its resources are free, but for those never taken: a heap */
#endif
#if DETAIL
    u32 previous;        /* number of its newest firing */
    u32 latest_firing;   /* unbounded: the first of those that start last */
    u64 latest;          /* when it does */
    struct Input *input; /* one an operand */
#else
    Wait *wait; /* one an operand */
#endif
} Process;

static Process process[PROCESSES + 1];

#if LIMITED
/* A firing takes the resource that is free first, in program order: returns its start. */
static u64 take(Process *own, u64 ready)
{
    u64 at;
    if (own->pool < resources) {
        if (own->pool == own->room) {
            own->room = own->room ? 2 * own->room : 4;
            own->free = realloc(own->free, own->room * sizeof *own->free);
            if (!own->free)
                fault(FAULT_MEMORY, 0, 0, 0, (int64_t)(own->room * sizeof *own->free >> 20));
        }
        u64 until = ready + own->interval;
        for (at = own->pool++; at && own->free[(at - 1) / 2] > until; at = (at - 1) / 2)
            own->free[at] = own->free[(at - 1) / 2];
        own->free[at] = until;
        return ready;
    }
    u64 start = ready > own->free[0] ? ready : own->free[0], until = start + own->interval, below;
    for (at = 0; (below = 2 * at + 1) < own->pool; at = below) {
        if (below + 1 < own->pool && own->free[below + 1] < own->free[below])
            below++;
        if (own->free[below] >= until)
            break;
        own->free[at] = own->free[below];
    }
    own->free[at] = until;
    return start;
}
#define ON_LIMITED(...) __VA_ARGS__
#else
#define ON_LIMITED(...)
#endif

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
static u64 budget, held[2]; /* bytes for each estimate's starts: those allowed, those taken */
static const u64 width[2] = {sizeof(u8), sizeof(u32)};

/* Makes the bins long enough for their number to reach a cycle. */
static void fit_bins(int estimate, u64 end)
{
    while ((end >> shift[estimate]) >= bins) {
        for (u64 q = 0; q < PROCESSES; q++) {
            u64 *row = work[estimate][q];
            for (u64 i = 0; i < bins; i++)
                row[i / 2] = i % 2 ? row[i / 2] + row[i] : row[i];
            memset(row + bins / 2, 0, bins / 2 * sizeof *row);
        }
        shift[estimate]++;
    }
}

static void add_work(int estimate, u64 p, u64 start, u64 count)
{
    u64 begin = start + latency_read, end = begin + process[p].latency;
    fit_bins(estimate, end);
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
    /* As long as they must be at least, whatever came so far: so they depend on the end alone. */
    u64 longest = 1, reach = budget / width[estimate];
    for (u64 p = 0; p < PROCESSES; p++)
        if (process[p].latency > longest)
            longest = process[p].latency;
    shift[estimate] = 1; /* 0 says that starts are exact */
    while ((1ull << shift[estimate]) < longest || (bins << shift[estimate]) < 2 * reach)
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

/* Allocate exact starts up to a cycle; 0 if the memory is too small, and bins take their place. */
__attribute__((noinline)) static int reserve(int estimate, u64 p, u64 start)
{
    Starts *own = &starts[estimate][p];
    u64 size = own->size ? own->size : 1024, unit = width[estimate], others = held[estimate] - own->size * unit;
    if (start < own->size)
        return 1;
    if (start >= budget) {
        coarsen(estimate);
        return 0;
    }
    while (size <= start)
        size *= 2;
    if (others + size * unit > budget) {
        coarsen(estimate);
        return 0;
    }
    u8 *larger = realloc(estimate ? (void *)own->word : (void *)own->byte, size * unit);
    if (!larger)
        fault(FAULT_MEMORY, p, 0, 0, (int64_t)(size * unit >> 20));
    memset(larger + own->size * unit, 0, (size - own->size) * unit);
    if (estimate)
        own->word = (u32 *)larger;
    else
        own->byte = larger;
    own->size = size;
    held[estimate] = others + size * unit;
    return 1;
}

__attribute__((noinline)) static void record_beyond(int estimate, u64 p, u64 start)
{
    if (shift[estimate] || !reserve(estimate, p, start))
        add_work(estimate, p, start, 1);
    else if (estimate)
        starts[estimate][p].word[start]++;
    else
        starts[estimate][p].byte[start]++;
}

#if DETAIL
/* Of each firing: its process, and for each estimate whom it waited for last. That tells starts, too:
 * as much later as a result takes, or as the resource does. */
typedef struct {
    u32 process;   /* twice its number; 1 more if (absolute) it waited for the resource */
    u32 before[2]; /* a firing's number; 0: nobody */
} Firing;

/* Values that one process sends to one operand of another. */
typedef struct {
    u32 producer, newest, newest_first; /* the latest numbers read, and read for the first time */
    u8 falls, first_falls;              /* whether numbers ever fell, and among first reads */
    u64 reads, tokens;
    u64 late[2], delayed[2]; /* cycles that the free process waited for it, and how many firings did */
} Edge;

/* Which values an operand has read already: a bit for each firing, in pages that come when used. Tokens
 * of one process that follow each other by the same step are a *run*: they are counted at its end. */
enum { PAGE = 1 << 15 };
#define NO_STEP (1ull << 63)

typedef struct Input {
    u64 last, step; /* of the run at hand: its latest token; NO_STEP: there is but one */
    u32 begin, length;
    Edge *edge;
    u32 edges, at; /* at: the edge that was used last */
    u64 **page;
} Input;

static u32 firing;       /* number of the latest firing */
static u64 latest_token; /* it and its process */
static Firing *firings;
static u64 firings_room;

__attribute__((noinline)) static Edge *other_edge(Input *input, u32 producer)
{
    for (u32 i = 0; i < input->edges; i++)
        if (input->edge[i].producer == producer)
            return &input->edge[input->at = i];
    input->at = input->edges++;
    input->edge = realloc(input->edge, input->edges * sizeof(Edge));
    if (!input->edge)
        fault(FAULT_MEMORY, 0, 0, 0, 1);
    memset(&input->edge[input->at], 0, sizeof(Edge));
    input->edge[input->at].producer = producer;
    return &input->edge[input->at];
}

static inline Edge *edge_of(Input *input, u32 producer)
{
    if (input->at < input->edges && input->edge[input->at].producer == producer)
        return &input->edge[input->at];
    return other_edge(input, producer);
}

/* Notes that the operand reads those values of 64 whose bits are set. */
static inline void read_bits(Input *input, Edge *edge, u32 number, u64 bits)
{
    u64 **page = &input->page[number / PAGE];
    if (!*page)
        *page = claim(PAGE / 64, sizeof(u64));
    u64 *word = &(*page)[number % PAGE / 64];
    u64 first = bits & ~*word;
    if (!first)
        return;
    *word |= bits;
    u32 base = number - number % 64;
    edge->tokens += (u64)__builtin_popcountll(first);
    edge->first_falls |= base + (u32)__builtin_ctzll(first) < edge->newest_first;
    edge->newest_first = base + 63 - (u32)__builtin_clzll(first);
}

static void end_run(Input *input)
{
    u32 number = input->begin, count = input->length, last = (u32)input->last;
    if (!count)
        return;
    if (!input->page)
        input->page = claim(detail_limit / PAGE + 1, sizeof *input->page);
    Edge *edge = edge_of(input, (u32)(input->last >> 32) - 1);
    int64_t step = count > 1 ? (int64_t)input->step : 0;
    edge->reads += count;
    edge->falls |= number < edge->newest || step < 0;
    edge->newest = last;
    input->length = 0;
    if (step == 1) {
        for (u32 end = last + 1; number < end;) {
            u32 next = (number | 63) + 1;
            u64 bits = ~0ull << number % 64;
            if (next > end)
                bits &= ~0ull >> (next - end), next = end;
            read_bits(input, edge, number, bits);
            number = next;
        }
    } else if (step) {
        for (; count; count--, number += (u32)step)
            read_bits(input, edge, number, 1ull << number % 64);
    } else {
        read_bits(input, edge, number, 1ull << number % 64);
    }
}

/* Numbers lie below 2^31: what leads to another process, or to no token, is never a run's step. */
__attribute__((noinline)) static void turn(Input *input, u64 token)
{
    if (input->length == 1 && token >> 32 == input->last >> 32) {
        input->step = token - input->last;
    } else {
        end_run(input);
        input->step = NO_STEP;
        input->begin = (u32)token;
    }
    input->last = token;
    input->length++;
}

__attribute__((cold, noinline)) static void more_firings(void)
{
    if (firing > detail_limit)
        fault(FAULT_DETAIL, 0, 0, 0, (int64_t)detail_limit);
    firings_room = firings_room ? 2 * firings_room : 4096;
    if (firings_room > detail_limit + 1)
        firings_room = detail_limit + 1;
    firings = realloc(firings, firings_room * sizeof *firings);
    if (!firings)
        fault(FAULT_MEMORY, 0, 0, 0, (int64_t)(firings_room * sizeof *firings >> 20));
}

/* `ready`: when the last operand came; oa and ou: which one that is, in both estimates. */
static void keep(u64 p, u64 ta, u64 tu, u64 ready, u64 control, u32 oa, u32 ou, const u64 *tokens)
{
    Process *own = &process[p];
    if (__builtin_expect(++firing >= firings_room, 0))
        more_firings();
    u64 by_a = ready ? tokens[oa] : 0, by_u = tu ? tokens[ou] : 0;
    int held = ta > ready;
    firings[firing] = (Firing){(u32)p << 1 | (u32)held, {held ? own->previous : (u32)by_a, (u32)by_u}};
    if (held) {
        own->taken += ta - ready;
    } else if (ready > control) {
        Edge *edge = edge_of(&own->input[oa], (u32)(by_a >> 32) - 1);
        edge->late[0] += ready - control;
        edge->delayed[0]++;
    }
    if (tu) {
        Edge *edge = edge_of(&own->input[ou], (u32)(by_u >> 32) - 1);
        edge->late[1] += tu;
        edge->delayed[1]++;
    }
    if (!own->previous || tu > own->latest)
        own->latest = tu, own->latest_firing = firing;
    own->previous = firing;
    latest_token = (p + 1) << 32 | firing;
    Input *input = own->input;
    for (u32 o = 0; o < own->operands; o++, input++) {
        u64 token = tokens[o];
        if (token - input->last == input->step) {
            input->last = token;
            input->length++;
        } else if (token) {
            turn(input, token);
        }
    }
}

/* A trace has a row for each firing: its number; of each operand whence it came (the writer's number, which of
 * its results, and READ_IT if it was read at all) and its value; the control's values; the results. */
#if TRACE
#define READ_IT (1ull << 63)
static struct {
    u64 *row, *at, count, room;
    u32 given, result;
} traced[PROCESSES + 1];

static void trace(u64 p, const u64 *origin, const u64 *content)
{
    u64 width = trace_width[p][0] + trace_width[p][1] + 2 * process[p].operands + 1;
    if (traced[p].count + width > traced[p].room) {
        traced[p].room = traced[p].room ? 2 * traced[p].room : 64 * width;
        traced[p].row = realloc(traced[p].row, traced[p].room * sizeof(u64));
        if (!traced[p].row)
            fault(FAULT_MEMORY, 0, 0, 0, (int64_t)(traced[p].room >> 17));
    }
    u64 *row = traced[p].at = traced[p].row + traced[p].count;
    traced[p].count += width;
    memset(row, 0, width * sizeof *row);
    *row++ = firing;
    for (u32 o = 0; o < process[p].operands; o++) {
        *row++ = origin ? origin[o] : 0;
        *row++ = content ? content[o] : 0;
    }
    traced[p].given = 1 + 2 * process[p].operands;
    traced[p].result = traced[p].given + trace_width[p][0];
}

static u32 target; /* of a firing's results the one that is written */
#define ORIGIN(o, s) (origins[o] = READ_IT | (u64)(s).target << 32 | (u32)(s).token)
#define COPY_BITS(to, x) do { __typeof__(x) value_ = (x); memcpy(&(to), &value_, sizeof value_); } while (0)
#define CONTENT(o, x) COPY_BITS(contents[o], x)
#define GIVEN(p, n, x) COPY_BITS(traced[p].at[traced[p].given + (n)], x)
#define RESULT(p, n, x) do { target = (n); COPY_BITS(traced[p].at[traced[p].result + (n)], x); } while (0)
#define TRACER(count) u64 origins[(count) + 1] = {0}, contents[(count) + 1] = {0}; (void)origins; (void)contents
#define TRACED(p) trace(p, origins, contents)
#define WRITTEN_AS(s) ((s).target = target)
#else
#define ORIGIN(o, s) (void)0
#define TRACER(count) (void)0
#define TRACED(p) (void)0
#define WRITTEN_AS(s) (void)0
#endif

#define READER(count) u64 tokens[(count) + 1] = {0}; u32 oa = 0, ou = 0; TRACER(count)
#define WRITER(o, s) (tokens[o] = (s).token, ORIGIN(o, s))
#define KEEP(p) do { keep(p, ta, tu, ready, control, oa, ou, tokens); TRACED(p); } while (0)

/* A part of the critical path: firings of a process whose next one on it is of a certain other one, and
 * waits for the result, or for the resource; until the end, for the last one. Next in the process's list. */
enum { CAUSE_END, CAUSE_VALUE, CAUSE_RESOURCE };
typedef struct {
    u64 process, after, cause, firings, cycles;
} Link;

/* From the last write back to cycle 0: each firing answers for the time until the next one starts. */
static void put_path(u32 estimate)
{
    u64 until = 0, links = 0, room = 0, after = PROCESSES;
    Link *link = 0;
    u32 at = 0, same = 0, cause = CAUSE_END, *first = claim(PROCESSES + 1, sizeof *first), *other = 0; /* numbers of links, from 1 */
    for (u64 p = 0; p < PROCESSES; p++) {
        u32 last = estimate ? process[p].latest_firing : process[p].previous;
        u64 end = process[p].last[estimate] + process[p].cost;
        if (process[p].firings && (end > until || (end == until && last < at)))
            until = end, at = last;
    }
    u64 start = at ? until - process[firings[at].process >> 1].cost : 0;
    while (at) {
        const Firing *step = &firings[at];
        u64 p = step->process >> 1;
        u32 l = first[p];
        if (same && link[same - 1].process == p && link[same - 1].after == after && link[same - 1].cause == cause)
            l = same; /* as the one before */
        while (l && (link[l - 1].after != after || link[l - 1].cause != cause))
            l = other[l - 1];
        if (!l) {
            if (links == room) {
                room = room ? 2 * room : 64;
                link = realloc(link, room * sizeof *link);
                other = realloc(other, room * sizeof *other);
                if (!link || !other)
                    fault(FAULT_MEMORY, 0, 0, 0, 1);
            }
            link[links] = (Link){p, after, cause, 0, 0};
            other[links] = first[p];
            l = first[p] = (u32)++links;
        }
        same = l;
        link[l - 1].firings++;
        link[l - 1].cycles += until - start;
        if (cause == CAUSE_RESOURCE) { /* most of many paths: firings that wait for the resource, one after the other */
            u32 held = (u32)p << 1 | 1, before;
            u64 from = start;
            for (; step->process == held && firings[before = step->before[0]].process == held; step = &firings[before]) {
                link[l - 1].firings++;
                start -= process[p].interval;
            }
            link[l - 1].cycles += from - start;
        }
        until = start;
        after = p;
        cause = !estimate && step->process & 1 ? CAUSE_RESOURCE : CAUSE_VALUE;
        at = step->before[estimate];
        if (at)
            start -= cause == CAUSE_RESOURCE ? process[p].interval : process[firings[at].process >> 1].cost;
    }
    put(R_LINK, estimate, sizeof(u64), links * sizeof(Link) / sizeof(u64), link);
    free(first), free(other), free(link);
}

static void put_detail(void)
{
    for (u32 p = 0; p < PROCESSES; p++) {
        put(R_TAKEN, p, sizeof(u64), 1, &process[p].taken);
        for (u32 o = 0; o < process[p].operands; o++) {
            end_run(&process[p].input[o]);
            for (u32 i = 0; i < process[p].input[o].edges; i++) {
                const Edge *edge = &process[p].input[o].edge[i];
                u64 row[] = {o, edge->producer, edge->reads, edge->tokens, edge->falls, edge->first_falls,
                             edge->late[0], edge->delayed[0], edge->late[1], edge->delayed[1]};
                put(R_EDGE, p, sizeof(u64), sizeof row / sizeof *row, row);
            }
        }
    }
    put_path(0);
    put_path(1);
}
#else
/* Without a record of each firing it is counted for which operand a process waited, not for whom. */
#define READER(count) u32 oa = 0, ou = 0; (void)oa; (void)ou
#define WRITER(o, s) (void)0
#define WAITED(e, operand, cycles) do { \
    own->wait[operand].late[e] += (cycles); own->wait[operand].delayed[e]++; } while (0)
#define KEEP(p) (void)0
#endif

#if !TRACE
#if !DETAIL
#define ORIGIN(o, s) (void)0
#endif
#define CONTENT(o, x) (void)0
#define GIVEN(p, n, x) (void)0
#define RESULT(p, n, x) (void)0
#endif

/* ---- one firing: BEGIN, READ for each operand, FIRE, WRITTEN for each result ------------------ */

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

/* While a loop's iteration is logged (see _periods.h), so is each time stamp that is read or written. A
 * statement comes twice, as LOGGED and without: it looks only once which one it is. */
#if PERIODS
static int logging;
static void note_read(TimeStamp *cell, u32 operand), note_write(TimeStamp *cell), note_constant(TimeStamp *cell);
static void note_shot(u32 p, u64 absolute, u64 unbounded), note_test(u32 site, int64_t left, int64_t right, u32 op);
enum { LOGGED = 0 };
#define NOTED(x) const int LOGGED = x
#define SILENT const int LOGGED = 0
#define IF_LOGGED(x) do { if (LOGGED) x; } while (0)
#define IF_LOGGING(x) do { if (__builtin_expect(logging, 0)) x; } while (0)
#else
#define NOTED(x) (void)0
#define SILENT (void)0
#define IF_LOGGED(x) (void)0
#define IF_LOGGING(x) (void)0
#endif
#define TEST(site, left, right, op) IF_LOGGING(note_test(site, (int64_t)(left), (int64_t)(right), op))

#define READ(operand, s) do { \
    IF_LOGGED(note_read(&(s), operand)); \
    WRITER(operand, s); \
    ON_ABSOLUTE(u64 ra = (s).a >> 1; oa = ra > ta ? (operand) : oa; ta = LARGER(ta, ra);) \
    ON_UNBOUNDED(u64 ru = (s).u >> 1; ou = ru > tu ? (operand) : ou; tu = LARGER(tu, ru);) } while (0)

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

#if DETAIL
#define WAITS_ABSOLUTE(control)
#define WAITS_UNBOUNDED
#else
#define WAITS_ABSOLUTE(control) \
    if (ta > control) WAITED(0, oa, ta - control); else own->taken += control - ta;
#define WAITS_UNBOUNDED if (tu) WAITED(1, ou, tu);
#endif

/* Leaves in ta and tu the time stamps of the results. */
#define FIRE(p) do { \
    Process *own = &process[p]; \
    u64 control = own->control, ready = ta; \
    (void)control, (void)ready; \
    ON_ABSOLUTE( \
        WAITS_ABSOLUTE(control) ta = LARGER(ta, control); own->control = ta + own->interval; \
        if (!own->firings) own->first[0] = ta; \
        own->last[0] = ta; record(0, p, ta);) \
    ON_UNBOUNDED( \
        WAITS_UNBOUNDED ON_LIMITED(tu = take(own, tu);) \
        if (!own->firings || tu < own->first[1]) own->first[1] = tu; \
        own->last[1] = LARGER(own->last[1], tu); record(1, p, tu);) \
    own->firings++; \
    IF_LOGGED(note_shot(p, ta, tu)); \
    KEEP(p); \
    ta = (ta + own->cost) << 1; tu = (tu + own->cost) << 1; \
    if (sizeof(TIME_STAMP) < sizeof(u64) && __builtin_expect((ta | tu) >> 32 != 0, 0)) \
        fault(FAULT_TIME_STAMP, p, 0, 0, 0); \
    } while (0)

#if DETAIL
#define WRITTEN_BY(s, token_) ((s).token = (token_), WRITTEN_AS(s))
#else
#define WRITTEN_BY(s, token_) (void)0
#endif
#define WRITTEN(s) do { \
    ON_ABSOLUTE((s).a = (TIME_STAMP)ta;) \
    ON_UNBOUNDED((s).u = (TIME_STAMP)tu;) \
    WRITTEN_BY(s, latest_token); \
    IF_LOGGED(note_write(&(s))); } while (0)
#define FREE(s) do { \
    ON_ABSOLUTE((s).a = 0;) \
    ON_UNBOUNDED((s).u = 0;) \
    WRITTEN_BY(s, 0); \
    IF_LOGGING(note_constant(&(s))); } while (0)

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

static void unwritten(TimeStamp *shadow, u64 count)
{
    for (u64 i = 0; i < count; i++) {
        memset(&shadow[i], 0, sizeof(TimeStamp));
        ON_ABSOLUTE(shadow[i].a = 1;)
        ON_UNBOUNDED(shadow[i].u = 1;)
    }
}

/* Unbounded: when a source sends its n-th element. */
static u64 sent(u64 p, u64 n)
{
    (void)p, (void)n;
    return 0 ON_LIMITED(+ n / resources * process[p].interval);
}

static void feed(const Port *port, TimeStamp *shadow)
{
    Walk walk = {{0}, 0};
    int64_t offset;
    u64 p = port->process, n = 0;
    if (!port->on)
        return;
    process[p].is_source = 1;
    while ((offset = step(port, &walk)) >= 0) {
        u64 start = n * process[p].interval, free = sent(p, n++);
        ON_ABSOLUTE(shadow[offset].a = (TIME_STAMP)((start + process[p].cost) << 1 | 1);)
        ON_UNBOUNDED(shadow[offset].u = (TIME_STAMP)((free + process[p].cost) << 1 | 1);)
#if DETAIL
        keep(p, start, 0, 0, start, 0, 0, 0);
#if TRACE
        target = 0;
        trace(p, 0, 0);
        traced[p].at[traced[p].result] = (u64)offset;
#endif
        shadow[offset].token = latest_token;
#else
        (void)start;
#endif
        (void)free;
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
#if !DETAIL
        process[p].taken += process[p].last[0];
#endif
        ON_UNBOUNDED(record(1, p, process[p].last[1] = sent(p, process[p].firings));)
        process[p].firings++;
    }
}

/* Without a source, what the kernel did not write is there from the start. */
static void drain(const Port *port, const TimeStamp *shadow, int has_source)
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
        GIVEN(port->process, 0, (u64)offset);
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
    resources = next();
    for (u64 p = 0; p < PROCESSES; p++) {
        process[p].latency = next();
        process[p].interval = next();
        process[p].cost = latency_read + process[p].latency + latency_write;
        process[p].operands = (u32)next();
#if DETAIL
        process[p].input = claim(process[p].operands, sizeof(Input));
        for (u32 o = 0; o < process[p].operands; o++)
            process[p].input[o].step = NO_STEP;
#else
        process[p].wait = claim(process[p].operands + 1, sizeof(Wait));
#endif
    }
    /* Both estimates may hold exact starts, and coarse work beside them while it is made of them. */
    budget = memory_for_work / 16 * 7;
    u64 share = memory_for_work / 16 / (PROCESSES ? PROCESSES : 1);
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
    }
#if DETAIL
    put_detail();
#if TRACE
    for (u32 p = 0; p < PROCESSES; p++)
        put(R_TRACE, p, sizeof(u64), traced[p].count, traced[p].row);
#endif
#else
    for (u32 p = 0; p < PROCESSES; p++) {
        put(R_TAKEN, p, sizeof(u64), 1, &process[p].taken);
        put(R_WAITS, p, sizeof(u64), 4 * process[p].operands, process[p].wait);
    }
#endif
}
