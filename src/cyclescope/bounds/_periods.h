/* Loops whose time stamps repeat: not executed to the end, and exact all the same.
 *
 * A firing's start is the maximum of sums: of time stamps that it reads and of its process's control
 * variable. Such a (max, +) recurrence becomes periodic: from some iteration on, each firing of the
 * loop's body starts a constant number of cycles, its *rate*, after the same firing of the iteration
 * before. Rates may differ from firing to firing. Two iterations in a row are written down (*logs*);
 * their differences are supposed to go on. Then this is proved for as many further iterations as it
 * is true of, m = 1 … `horizon`, where iteration m is the logged one moved by m:
 *
 * - Loops are logged only where lowering knows that every condition compares linear functions of
 *   counters and every subscript is one. So both sides of a condition, and every address, go on
 *   linearly as long as every condition comes out as it did, which ends the horizon.
 * - The writer of a value is found among the linear addresses: an earlier firing of the same
 *   iteration, the same firing some iterations ago, or none of the iterations up to the horizon; then
 *   its time stamp is in memory already and is read there. Accesses of one array that move at different
 *   rates must not overlap in any of these iterations.
 * - By induction over the firings in program order, a firing starts at S + rate m if no operand (nor the
 *   resource) comes later than that, and one comes exactly then.
 *
 * What was proved but for the last iteration is skipped: starts are recorded, time stamps written,
 * processes moved on, all as linear functions; values are not computed (lowering skips no loop that computes what
 * control, subscripts or a choice of operands depend on). The last one is executed: it meets subscripts
 * that leave an array, whereupon the caller runs the program again without skipping.
 */

typedef struct {
    int64_t left, right;
    u32 site, op;
} Test;

typedef struct {
    TimeStamp *cell;
    TIME_STAMP was[2];
    u32 shot;    /* which firing of the body reads it */
    u32 operand; /* as which of its operands */
} Read;

typedef struct {
    TimeStamp *cell;
    u32 shot;
} Write;

/* A firing of the body; also an assignment of a constant, which is no process's. */
typedef struct {
    u32 process, reads; /* reads: how many have been noted when it starts, its own with them */
    u64 start[2];
} Shot;

enum { CONSTANT = 0xffffffffu };
enum { TEST_LT, TEST_LE, TEST_GT, TEST_GE, TEST_EQ, TEST_NE };

typedef struct {
    Test *test;
    Read *read;
    Write *write;
    Shot *shot;
    u32 tests, reads, writes, shots;
} Log;

static Log logs[2];
static Log *entry; /* where notes go */
static u32 log_limit;
static u64 skipped; /* firings */
static u64 effort;  /* nanoseconds, roughly, that the latest proof and skip took */

typedef struct {
    char *base;
    u64 bytes;
    int noted; /* the run asks whether unwritten elements are read */
    const u32 *writers; /* processes that write it, then CONSTANT */
    int64_t step; /* between the time stamps of two elements, absolute, that nobody writes but a source; else -1 */
} Range;

static Range range[STORAGES + 1];
static u32 ranges;

static void register_range(void *base, u64 count, int noted, const u32 *writers, int64_t step)
{
    range[ranges++] = (Range){base, count * sizeof(TimeStamp), noted, writers, step};
}

/* ---- logs ------------------------------------------------------------------------------------- */

static void begin_log(Log *log)
{
    if (!log->test) {
        log->test = claim(log_limit, sizeof(Test));
        log->read = claim(log_limit, sizeof(Read));
        log->write = claim(log_limit, sizeof(Write));
        log->shot = claim(log_limit, sizeof(Shot));
    }
    log->tests = log->reads = log->writes = log->shots = 0;
    entry = log;
    logging = 1;
}

static void give_up(void);

__attribute__((noinline)) static void note_test(u32 site, int64_t left, int64_t right, u32 op)
{
    if (entry->tests == log_limit)
        give_up();
    else
        entry->test[entry->tests++] = (Test){left, right, site, op};
}

__attribute__((noinline)) static void note_read(TimeStamp *cell, u32 operand)
{
    if (entry->reads == log_limit)
        give_up();
    else
        entry->read[entry->reads++] = (Read){cell, {0 ON_ABSOLUTE(+ cell->a), 0 ON_UNBOUNDED(+ cell->u)}, entry->shots, operand};
}

__attribute__((noinline)) static void note_shot(u32 p, u64 absolute, u64 unbounded)
{
    if (entry->shots == log_limit) {
        give_up();
        return;
    }
    entry->shot[entry->shots++] = (Shot){p, entry->reads, {absolute, unbounded}};
}

/* Writes follow the firing that they belong to. */
__attribute__((noinline)) static void note_write(TimeStamp *cell)
{
    if (entry->writes == log_limit)
        give_up();
    else
        entry->write[entry->writes++] = (Write){cell, entry->shots - 1};
}

__attribute__((noinline)) static void note_constant(TimeStamp *cell)
{
    note_shot(CONSTANT, 0, 0);
    if (logging)
        note_write(cell);
}

/* ---- recording many starts at once ------------------------------------------------------------ */

/* Σ (x - b) over the `count` beginnings b = begin, begin + step, … that lie before x. */
static unsigned __int128 until(u64 x, u64 begin, u64 step, u64 count)
{
    if (x <= begin)
        return 0;
    unsigned __int128 n = (x - begin - 1) / step + 1;
    if (n > count)
        n = count;
    return n * (x - begin) - n * (n - 1) / 2 * step;
}

/* `weight` starts at each of start, start + step, …, `count` of them. */
static void record_row(int estimate, u64 p, int64_t start, int64_t step, u64 count, u64 weight)
{
    if (step < 0) {
        start += step * (int64_t)(count - 1);
        step = -step;
    }
    if (step == 0) {
        weight *= count;
        count = 1;
    }
    u64 last = (u64)start + (count - 1) * (u64)step;
    if (!shift[estimate] && reserve(estimate, p, last)) {
        Starts *own = &starts[estimate][p];
        for (u64 n = 0, t = (u64)start; n < count; n++, t += (u64)step) {
            if (estimate)
                own->word[t] += (u32)weight;
            else
                own->byte[t] += (u8)weight;
        }
        return;
    }
    u64 begin = (u64)start + latency_read, latency = process[p].latency;
    fit_bins(estimate, last + latency_read + latency);
    u64 length = 1ull << shift[estimate], from = begin / length, to = (last + latency_read + latency) / length;
    if (count <= to - from) {
        for (u64 n = 0; n < count; n++)
            add_work(estimate, p, (u64)start + n * (u64)step, weight);
        return;
    }
    unsigned __int128 before = 0;
    for (u64 bin = from; bin <= to; bin++) {
        u64 edge = (bin + 1) * length;
        unsigned __int128 now = until(edge, begin, (u64)step | !step, count);
        if (edge > latency)
            now -= until(edge - latency, begin, (u64)step | !step, count);
        work[estimate][p][bin] += (u64)(now - before) * weight;
        before = now;
    }
}

/* `n` starts `gap` apart, again and again: `count` times, `rate` apart. */
static void record_rows(int estimate, u64 p, int64_t start, int64_t gap, u64 n, int64_t rate, u64 count)
{
    if (gap == 0)
        record_row(estimate, p, start, rate, count, n);
    else if (rate == 0)
        record_row(estimate, p, start, gap, n, count);
    else if (gap * (int64_t)n == rate)
        record_row(estimate, p, start, gap, n * count, 1);
    else if (n <= count)
        for (u64 i = 0; i < n; i++)
            record_row(estimate, p, start + (int64_t)i * gap, rate, count, 1);
    else
        for (u64 m = 0; m < count; m++)
            record_row(estimate, p, start + (int64_t)m * rate, gap, n, 1);
}

/* ---- the proof -------------------------------------------------------------------------------- */

/* A write's place among those of the same array and rate: cells of one residue are met in turn, the one
 * of phase x + d as many iterations after the one of phase x as d says. */
typedef struct {
    u32 group, shot;
    int64_t residue, phase;
    u32 write;
} Key;

typedef struct {
    u32 range;
    int64_t rate;
    int has_reads, has_writes;
    char *low[2], *high[2]; /* of reads, of writes; the last byte's successor */
} Group;

enum { GROUPS = 64 };
static Group group[GROUPS];
static u32 groups;
static Key *keys;
static u32 key_count;
static int64_t *shot_rate[2];
static u32 *write_group; /* of each read, of each write */
static int64_t horizon;

static u32 range_of(const TimeStamp *cell)
{
    static u32 latest;
    const char *at = (const char *)cell;
    if (at >= range[latest].base && at < range[latest].base + range[latest].bytes)
        return latest;
    for (u32 r = 0; r < ranges; r++)
        if (at >= range[r].base && at < range[r].base + range[r].bytes)
            return latest = r;
    return ranges;
}

static u32 group_of(TimeStamp *cell, int64_t rate, int writes)
{
    static u32 latest;
    u32 r = range_of(cell), g = latest;
    char *at = (char *)cell;
    if (r == ranges)
        return GROUPS;
    if (g >= groups || group[g].range != r || group[g].rate != rate) {
        for (g = 0; g < groups; g++)
            if (group[g].range == r && group[g].rate == rate)
                break;
        if (g == GROUPS)
            return GROUPS;
        if (g == groups)
            group[groups++] = (Group){r, rate, 0, 0, {at, at}, {at, at}};
        latest = g;
    }
    Group *own = &group[g];
    int *has = writes ? &own->has_writes : &own->has_reads;
    if (!*has || at < own->low[writes])
        own->low[writes] = at;
    if (!*has || at + sizeof(TimeStamp) > own->high[writes])
        own->high[writes] = at + sizeof(TimeStamp);
    *has = 1;
    return g;
}

static int key_before(const Key *x, const Key *y)
{
    if (x->group != y->group)
        return x->group < y->group;
    if (x->residue != y->residue)
        return x->residue < y->residue;
    if (x->phase != y->phase)
        return x->phase < y->phase;
    return x->shot < y->shot;
}

static int key_order(const void *x, const void *y)
{
    return key_before(x, y) ? -1 : key_before(y, x);
}

static Key key_of(u32 g, const TimeStamp *cell, u32 shot)
{
    int64_t rate = group[g].rate, at = (const char *)cell - range[group[g].range].base;
    if (rate == 0)
        return (Key){g, shot, at, 0, 0};
    int64_t stride = rate < 0 ? -rate : rate, phase = at / stride;
    return (Key){g, shot, at % stride, rate < 0 ? -phase : phase, 0};
}

/* The first key that isn't before this one. */
static u32 key_from(const Key *wanted)
{
    u32 low = 0, high = key_count;
    while (low < high) {
        u32 middle = (low + high) / 2;
        if (key_before(&keys[middle], wanted))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Who writes what a firing reads: `shot`, `distance` iterations before; distance -1: nobody. */
typedef struct {
    u32 shot;
    int64_t distance;
} Source;

static Source source_of(u32 g, const Read *read)
{
    Key wanted = key_of(g, read->cell, read->shot);
    u32 at = key_from(&wanted);
    if (at > 0) {
        const Key *found = &keys[at - 1];
        if (found->group == g && found->residue == wanted.residue && found->phase == wanted.phase)
            return (Source){found->shot, 0};
    }
    if (group[g].rate) {
        wanted.phase++;
        wanted.shot = 0;
        at = key_from(&wanted);
    }
    if (at < key_count) {
        Key next = keys[at];
        if (next.group == g && next.residue == wanted.residue) {
            int64_t distance = group[g].rate ? next.phase - wanted.phase + 1 : 1;
            next.shot = CONSTANT; /* the last write of that cell */
            return (Source){keys[key_from(&next) - 1].shot, distance};
        }
    }
    return (Source){0, -1};
}

static Source *sources;             /* of each read */
static u32 *read_group, *previous; /* of each read; of each firing, the one of its process before */

static void limit(int64_t most)
{
    if (most < horizon)
        horizon = most;
}

/* How long base + rate m stays at or below 0, from m = `from` on, at most `horizon`. */
static void stay(int64_t base, int64_t rate, int64_t from)
{
    if (from > horizon)
        return;
    if (base + rate * from > 0)
        limit(from - 1);
    else if (rate > 0)
        limit(-base / rate);
}

static int comes_out(u32 op, int64_t difference)
{
    switch (op) {
    case TEST_LT: return difference < 0;
    case TEST_LE: return difference <= 0;
    case TEST_GT: return difference > 0;
    case TEST_GE: return difference >= 0;
    case TEST_EQ: return difference == 0;
    default: return difference != 0;
    }
}

/* Conditions come out as they did as long as left - right keeps its sign. */
static int tests_repeat(const Log *before, const Log *now)
{
    const int64_t far = 1 << 30; /* where no counter's type ends */
    if (before->tests != now->tests)
        return 0;
    for (u32 i = 0; i < now->tests; i++) {
        const Test *a = &before->test[i], *b = &now->test[i];
        int64_t was = a->left - a->right, is = b->left - b->right, rate = is - was;
        int64_t sides[2][2] = {{a->left, b->left}, {a->right, b->right}};
        if (a->site != b->site || comes_out(b->op, was) != comes_out(b->op, is))
            return 0;
        for (int n = 0; n < 2; n++) {
            int64_t side = sides[n][1], moves = side - sides[n][0];
            if (sides[n][0] > far || sides[n][0] < -far)
                return 0;
            stay(side - far, moves, 0);
            stay(-side - far, -moves, 0);
        }
        if (b->op == TEST_LT || b->op == TEST_GE) {
            if (is < 0)
                stay(is + 1, rate, 0);
            else
                stay(-is, -rate, 0);
        } else if (is > 0) {
            stay(1 - is, -rate, 0);
        } else if (is == 0 && (b->op == TEST_EQ || b->op == TEST_NE)) {
            limit(rate ? 0 : horizon);
        } else {
            int unequal = b->op == TEST_EQ || b->op == TEST_NE;
            stay(is + unequal, rate, 0);
        }
        if (horizon < 2)
            return 0;
    }
    return 1;
}

static u64 time_stamp_at(const TimeStamp *cell, int estimate)
{
#if ABSOLUTE && UNBOUNDED
    return estimate ? cell->u : cell->a;
#elif ABSOLUTE
    (void)estimate;
    return cell->a;
#else
    (void)estimate;
    return cell->u;
#endif
}

/* No time stamp in the array is later than this. */
static int64_t latest_in(u32 r, int estimate)
{
    u64 latest = 0;
    for (const u32 *p = range[r].writers; *p != CONSTANT; p++) {
        const Process *own = &process[*p];
        u64 last = own->last[estimate] + own->cost;
        if (own->is_source)
            last = (estimate ? 0 : range[r].bytes / sizeof(TimeStamp) * own->interval) + own->cost;
        if ((own->firings || own->is_source) && last > latest)
            latest = last;
    }
    return (int64_t)latest;
}

/* Whether what a group writes in iterations 0 … m is none of what the other meets in 1 … m. */
static int separate(const Group *own, const Group *other, int writes, int64_t m)
{
    int64_t from = own->rate < 0 ? own->rate * m : 0, to = own->rate < 0 ? 0 : own->rate * m;
    int64_t other_from = other->rate < 0 ? other->rate * m : other->rate;
    int64_t other_to = other->rate < 0 ? other->rate : other->rate * m;
    return own->high[1] + to <= other->low[writes] + other_from || other->high[writes] + other_to <= own->low[1] + from;
}

/* Within their arrays, and apart where they move at different rates. */
/* Iteration 0 counts among those that write: it may have written after the logged firing did. */
static void keep_apart(void)
{
    for (u32 g = 0; g < groups; g++) {
        const Group *own = &group[g];
        for (int w = 0; w < 2; w++) {
            if (!(w ? own->has_writes : own->has_reads))
                continue;
            const Range *array = &range[own->range];
            stay(own->high[w] - (array->base + array->bytes), own->rate, 1);
            stay(array->base - own->low[w], -own->rate, 1);
        }
        for (u32 h = 0; h < groups && own->has_writes; h++) {
            const Group *other = &group[h];
            if (h == g || other->range != own->range)
                continue;
            for (int w = 0; w < 2; w++) {
                if (!(w ? other->has_writes : other->has_reads))
                    continue;
                int64_t low = 0, high = horizon;
                while (low < high) {
                    int64_t m = (low + high + 1) / 2;
                    if (separate(own, other, w, m))
                        low = m;
                    else
                        high = m - 1;
                }
                limit(low);
            }
        }
    }
}

/* A firing's start is the latest of what it waits for: an operand that comes at `base` + `rate` m. */
typedef struct {
    int64_t start, rate; /* of the firing */
    int estimate;
    int exact; /* an operand was found that comes exactly then */
} Claim;

static int comes(const Claim *claim, int64_t base, int64_t rate, int64_t from)
{
    stay(base - claim->start, rate - claim->rate, from);
    return base == claim->start && rate == claim->rate;
}

/* Operands whose time stamps are in memory, for m = 1 … upto. Returns for how many they come exactly. */
static int64_t scan(const Claim *claim, const Read *read, int64_t step, int64_t upto, int noted)
{
    int64_t exactly = 0, at = claim->start;
    const char *cell = (const char *)read->cell;
    if (upto > horizon)
        upto = horizon;
    effort += (u64)upto;
    for (int64_t m = 1; m <= upto; m++) {
        cell += step;
        at += claim->rate;
        u64 found = time_stamp_at((const TimeStamp *)cell, claim->estimate);
        int64_t ready = (int64_t)(found >> 1);
        if (ready > at || (noted && (found & 1))) {
            limit(m - 1);
            break;
        }
        if (ready == at && exactly == m - 1)
            exactly = m;
    }
    return exactly;
}

/* Whether the same firing reads, just one iteration's step ahead, what it reads here: then what comes
 * in time there does here, too, but for the next iteration's, which was in time in this one. */
static int is_led(const Log *now, u32 r, u32 first, int64_t rate)
{
    const char *ahead = (const char *)now->read[r].cell + group[read_group[r]].rate;
    if (rate < 0 || sources[r].distance >= 0)
        return 0;
    for (u32 other = first; other < now->reads && now->read[other].shot == now->read[r].shot; other++)
        if ((const char *)now->read[other].cell == ahead && read_group[other] == read_group[r] && sources[other].distance < 0)
            return 1;
    return 0;
}

static void prove_start(const Log *now, u32 q, int estimate)
{
    const Shot *shot = &now->shot[q];
    Claim claim = {(int64_t)shot->start[estimate], shot_rate[estimate][q], estimate, 0};
    u32 first = q ? now->shot[q - 1].reads : 0, end = shot->reads;
    if (claim.start == 0 && claim.rate == 0)
        claim.exact = 1;
    stay(-claim.start, -claim.rate, 1);
    if (!estimate) {
        u32 earlier = previous[q];
        int wraps = earlier >= q; /* the last one of the iteration before */
        int64_t rate = shot_rate[0][earlier];
        int64_t free = (int64_t)(now->shot[earlier].start[0] + process[shot->process].interval);
        claim.exact |= comes(&claim, wraps ? free - rate : free, rate, 1);
    }
    int64_t best = 0; /* for how long a time stamp in memory comes exactly */
    for (int pass = 0; pass < 2; pass++) {
        for (u32 r = first; r < end && horizon >= 2; r++) {
            const Read *read = &now->read[r];
            Source source = sources[r];
            const Group *own = &group[read_group[r]];
            int64_t upto = source.distance < 0 ? horizon : source.distance - 1;
            int exact = 0;
            if (source.distance >= 0) {
                const Shot *writer = &now->shot[source.shot];
                int is_constant = writer->process == CONSTANT;
                int64_t rate = is_constant ? 0 : shot_rate[estimate][source.shot];
                int64_t base = is_constant ? 0 : (int64_t)(writer->start[estimate] + process[writer->process].cost);
                base -= rate * source.distance;
                exact = base == claim.start && rate == claim.rate;
                if (!pass)
                    comes(&claim, base, rate, source.distance > 1 ? source.distance : 1);
                if (upto <= 0) {
                    claim.exact |= exact;
                    continue;
                }
            }
            if (!pass)
                continue;
            int noted = range[own->range].noted && !(read->was[estimate] & 1);
            if (own->rate == 0) {
                /* As it is now: the iteration may have written it after it read it. */
                claim.exact |= comes(&claim, (int64_t)(time_stamp_at(read->cell, estimate) >> 1), 0, 1);
                continue;
            }
            int64_t earliest = claim.start + (claim.rate < 0 ? claim.rate * horizon : claim.rate);
            if (claim.exact && !noted && latest_in(own->range, estimate) <= earliest)
                continue;
            if (claim.exact && !noted && is_led(now, r, first, claim.rate))
                continue;
            int64_t exactly = scan(&claim, read, own->rate, upto, noted);
            if (exactly >= horizon || (exactly >= upto && exact))
                exactly = horizon;
            if (exactly > best)
                best = exactly;
        }
    }
    if (!claim.exact)
        limit(best);
}

/* Whether the two logs differ by linear functions that go on for at least one iteration: `horizon`. */
static int prove(const Log *before, const Log *now)
{
    static u32 latest_shot[PROCESSES + 1];
    if (!sources) {
        sources = claim(log_limit, sizeof *sources);
        read_group = claim(log_limit, sizeof *read_group);
        previous = claim(log_limit, sizeof *previous);
        write_group = claim(log_limit, sizeof *write_group);
        keys = claim(log_limit, sizeof *keys);
        shot_rate[0] = claim(log_limit, sizeof(int64_t));
        shot_rate[1] = claim(log_limit, sizeof(int64_t));
    }
    horizon = 1 << 30;
    if (before->shots != now->shots || before->reads != now->reads || before->writes != now->writes || !now->shots)
        return 0;
    if (!tests_repeat(before, now))
        return 0;
    for (u32 q = 0; q < now->shots; q++) {
        if (now->shot[q].process != before->shot[q].process || now->shot[q].reads != before->shot[q].reads)
            return 0;
        for (int e = 0; e < 2; e++)
            shot_rate[e][q] = (int64_t)(now->shot[q].start[e] - before->shot[q].start[e]);
    }
    groups = 0;
    for (u32 w = 0; w < now->writes; w++) {
        int64_t rate = (char *)now->write[w].cell - (char *)before->write[w].cell;
        if (now->write[w].shot != before->write[w].shot)
            return 0;
        write_group[w] = group_of(now->write[w].cell, rate, 1);
        if (write_group[w] == GROUPS)
            return 0;
    }
    for (u32 r = 0; r < now->reads; r++) {
        int64_t rate = (char *)now->read[r].cell - (char *)before->read[r].cell;
        if (now->read[r].shot != before->read[r].shot)
            return 0;
        read_group[r] = group_of(now->read[r].cell, rate, 0);
        if (read_group[r] == GROUPS)
            return 0;
    }
    keep_apart();
    if (horizon < 2)
        return 0;
    int sorted = 1;
    for (key_count = 0; key_count < now->writes; key_count++) {
        const Write *write = &now->write[key_count];
        keys[key_count] = key_of(write_group[key_count], write->cell, write->shot);
        keys[key_count].write = key_count;
        if (key_count && key_before(&keys[key_count], &keys[key_count - 1]))
            sorted = 0;
    }
    if (!sorted)
        qsort(keys, key_count, sizeof *keys, key_order);
    for (u32 r = 0; r < now->reads; r++)
        sources[r] = group[read_group[r]].has_writes ? source_of(read_group[r], &now->read[r]) : (Source){0, -1};
    for (u32 q = 0; q < now->shots; q++) /* twice: the first of a process follows the last one */
        if (now->shot[q].process != CONSTANT)
            latest_shot[now->shot[q].process] = q;
    for (u32 q = 0; q < now->shots; q++)
        if (now->shot[q].process != CONSTANT) {
            previous[q] = latest_shot[now->shot[q].process];
            latest_shot[now->shot[q].process] = q;
        }
    for (u32 q = 0; q < now->shots; q++) {
        if (now->shot[q].process == CONSTANT)
            continue;
        ON_ABSOLUTE(prove_start(now, q, 0);)
        ON_UNBOUNDED(prove_start(now, q, 1);)
        if (horizon < 2)
            return 0;
    }
    return 1;
}

/* ---- skipping --------------------------------------------------------------------------------- */

static void skip_write(const Log *now, u32 w, int64_t m)
{
    const Shot *shot = &now->shot[now->write[w].shot];
    TimeStamp *cell = (TimeStamp *)((char *)now->write[w].cell + group[write_group[w]].rate * m);
    int is_constant = shot->process == CONSTANT;
    ON_ABSOLUTE(cell->a = is_constant ? 0 : (TIME_STAMP)((shot->start[0] + (u64)(shot_rate[0][now->write[w].shot] * m) + process[shot->process].cost) << 1);)
    ON_UNBOUNDED(cell->u = is_constant ? 0 : (TIME_STAMP)((shot->start[1] + (u64)(shot_rate[1][now->write[w].shot] * m) + process[shot->process].cost) << 1);)
}

/* The same for m = 1 … count. */
static void skip_row(const Log *now, u32 w, u64 count)
{
    u32 q = now->write[w].shot;
    const Shot *shot = &now->shot[q];
    int is_constant = shot->process == CONSTANT;
    char *cell = (char *)now->write[w].cell;
    int64_t step = group[write_group[w]].rate;
    u64 cost = is_constant ? 0 : process[shot->process].cost;
    u64 next[2], rate[2] = {(u64)shot_rate[0][q] << 1, (u64)shot_rate[1][q] << 1};
    for (int e = 0; e < 2; e++)
        next[e] = (shot->start[e] + cost) << 1;
    for (u64 m = 1; m <= count; m++) {
        cell += step;
        next[0] += rate[0], next[1] += rate[1];
        ON_ABSOLUTE(((TimeStamp *)cell)->a = (TIME_STAMP)next[0];)
        ON_UNBOUNDED(((TimeStamp *)cell)->u = (TIME_STAMP)next[1];)
    }
}

/* ---- waits of skipped firings ----------------------------------------------------------------- */

/* An operand's time stamp in the iterations `from` … `to`: base + rate m; or what lies in memory, m times
 * `step` bytes behind `cell`. */
typedef struct {
    int64_t base, rate, from, to, step;
    const char *cell;
    u32 operand;
} Line;

static int64_t ready_at(const Line *line, int64_t m, int estimate)
{
    if (line->cell)
        return (int64_t)(time_stamp_at((const TimeStamp *)(line->cell + line->step * m), estimate) >> 1);
    return line->base + line->rate * m;
}

/* The lines of a firing's operands, in the order in which it reads them. An operand may have two: of what
 * was in memory before, and of what the skipped iterations write. */
static u32 lines_of(const Log *now, u32 q, int estimate, int64_t count, Line *line)
{
    u32 lines = 0;
    for (u32 r = q ? now->shot[q - 1].reads : 0; r < now->shot[q].reads; r++) {
        const Read *read = &now->read[r];
        const Source *source = &sources[r];
        const Group *own = &group[read_group[r]];
        int64_t upto = source->distance < 0 ? count : source->distance - 1;
        if (upto > count)
            upto = count;
        if (upto >= 1) {
            Line *before = &line[lines++];
            *before = (Line){(int64_t)(time_stamp_at(read->cell, estimate) >> 1), 0, 1, upto, own->rate, 0, read->operand};
            int64_t step = range[own->range].step;
            if (step >= 0)
                before->rate = estimate ? 0 : own->rate / (int64_t)sizeof(TimeStamp) * step;
            else if (own->rate)
                before->cell = (const char *)read->cell;
        }
        if (source->distance >= 0 && source->distance <= count) {
            const Shot *writer = &now->shot[source->shot];
            int is_constant = writer->process == CONSTANT;
            int64_t rate = is_constant ? 0 : shot_rate[estimate][source->shot];
            int64_t base = is_constant ? 0 : (int64_t)(writer->start[estimate] + process[writer->process].cost);
            line[lines++] = (Line){base - rate * source->distance, rate, source->distance ? source->distance : 1, count, 0, 0, read->operand};
        }
    }
    return lines;
}

static void wait_for(u64 p, u32 operand, int estimate, u64 cycles, u64 firings_delayed)
{
    Wait *own = &process[p].wait[operand];
    own->late[estimate] += cycles;
    own->delayed[estimate] += firings_delayed;
}

/* base + rate m, summed over m = from … to. */
static int64_t sum_of(int64_t base, int64_t rate, int64_t from, int64_t to)
{
    return (to - from + 1) * (2 * base + rate * (from + to)) / 2;
}

/* The first m > `m` at which one line beats another that is ahead at m; a tie counts if `ties`. */
static int64_t beats(int64_t base, int64_t rate, int64_t m, int ties)
{
    int64_t behind = -(base + rate * m) + !ties; /* what it has to gain */
    if (rate <= 0)
        return INT64_MAX;
    return m + (behind + rate - 1) / rate;
}

/* As the executed firing does: for which operand, or the resource, firing q waits in the iterations
 * 1 … count. Its start is start + rate m, the resource is free from `free` + free_rate m. */
static void wait_row(const Log *now, u32 q, int estimate, int64_t count)
{
    static Line *line;
    static u32 *on;
    if (!line) {
        line = claim(2 * (u64)log_limit, sizeof *line);
        on = claim(2 * (u64)log_limit, sizeof *on);
    }
    const Shot *shot = &now->shot[q];
    u64 p = shot->process;
    int64_t start = (int64_t)shot->start[estimate], rate = shot_rate[estimate][q], free = 0, free_rate = 0;
    if (!estimate) {
        u32 earlier = previous[q];
        free_rate = shot_rate[0][earlier];
        free = (int64_t)(now->shot[earlier].start[0] + process[p].interval) - (earlier >= q ? free_rate : 0);
    }
    u32 lines = lines_of(now, q, estimate, count, line);
    for (int64_t m = 1; m <= count;) {
        int64_t to = count;
        u32 active = 0, scanned = 0;
        for (u32 l = 0; l < lines; l++) {
            if (line[l].from > m && line[l].from - 1 < to)
                to = line[l].from - 1;
            if (line[l].from > m || line[l].to < m)
                continue;
            if (line[l].to < to)
                to = line[l].to;
            on[active++] = l;
            scanned += line[l].cell != 0;
        }
        int64_t best = 0; /* the latest of those that are lines; nobody waits for cycle 0 */
        u32 top = lines;
        for (u32 a = 0; a < active; a++)
            if (!line[on[a]].cell && ready_at(&line[on[a]], m, estimate) > best) {
                top = on[a];
                best = ready_at(&line[top], m, estimate);
            }
        if (scanned) {
            /* Memory that is never the latest, or just as late, need not be looked at. */
            int64_t end = top < lines ? ready_at(&line[top], to, estimate) : 0;
            int64_t least = best < end ? best : end;
            for (u32 a = 0; a < active && scanned; a++) {
                const Line *own = &line[on[a]];
                if (own->cell && latest_in(range_of((const TimeStamp *)own->cell), estimate) < least)
                    scanned--;
            }
        }
        if (scanned) {
            effort += (u64)(to - m + 1) * active;
            for (; m <= to; m++) {
                int64_t latest = 0, now_free = free + free_rate * m;
                u32 operand = 0;
                for (u32 a = 0; a < active; a++) {
                    int64_t ready = ready_at(&line[on[a]], m, estimate);
                    if (ready > latest)
                        latest = ready, operand = line[on[a]].operand;
                }
                if (start + rate * m > latest)
                    process[p].taken += (u64)(start + rate * m - latest);
                else if (latest > now_free)
                    wait_for(p, operand, estimate, (u64)(latest - now_free), 1);
            }
            continue;
        }
        int64_t base = 0, own_rate = 0; /* nobody: ready at 0 */
        u32 operand = 0;
        if (top < lines)
            base = line[top].base, own_rate = line[top].rate, operand = line[top].operand;
        for (u32 a = 0; a < active; a++) {
            const Line *other = &line[on[a]];
            if (other->cell || on[a] == top)
                continue;
            int64_t at = beats(other->base - base, other->rate - own_rate, m, top < lines && on[a] < top);
            if (at - 1 < to)
                to = at - 1;
        }
        int64_t n = to - m + 1;
        if (start == base && rate == own_rate) {
            int64_t wait = start - free, wait_rate = rate - free_rate, delayed = n;
            /* Those for which the resource was free at that very cycle were not delayed. */
            if (wait_rate == 0)
                delayed = wait > 0 ? n : 0;
            else if (wait + wait_rate * m == 0 || wait + wait_rate * to == 0)
                delayed = n - 1;
            if (delayed > 0)
                wait_for(p, operand, estimate, (u64)sum_of(wait, wait_rate, m, to), (u64)delayed);
        } else {
            process[p].taken += (u64)sum_of(start - base, rate - own_rate, m, to);
            int64_t gap = start - base, gap_rate = rate - own_rate; /* where both meet, the operand was waited for */
            for (int end = 0; end < (n > 1 ? 2 : 1); end++) {
                int64_t at = end ? to : m, late = start + rate * at - free - free_rate * at;
                if (gap + gap_rate * at == 0 && late > 0)
                    wait_for(p, operand, estimate, (u64)late, 1);
            }
        }
        m = to + 1;
    }
    effort += lines;
}

/* Record what the firings of skipped iterations wait for. Before their time stamps are written. */
static void skip_waits(const Log *now, u64 count)
{
    for (u32 q = 0; q < now->shots; q++)
        if (now->shot[q].process != CONSTANT) {
            ON_ABSOLUTE(wait_row(now, q, 0, (int64_t)count);)
            ON_UNBOUNDED(wait_row(now, q, 1, (int64_t)count);)
        }
}

/* Starts of one process in one iteration that lie evenly. */
typedef struct {
    int64_t start, gap, rate;
    u64 count;
} Row;

static void end_row(int estimate, u64 p, Row *row, u64 count)
{
    if (row->count)
        record_rows(estimate, p, row->start + row->rate, row->gap, row->count, row->rate, count);
    row->count = 0;
}

static void skip(const Log *now, u64 count)
{
    static Row rows[2][PROCESSES + 1];
    skip_waits(now, count);
    for (u32 q = 0; q < now->shots; q++) {
        const Shot *shot = &now->shot[q];
        if (shot->process == CONSTANT)
            continue;
        Process *own = &process[shot->process];
        for (int e = 0; e < 2; e++) {
            if (!(e ? UNBOUNDED : ABSOLUTE))
                continue;
            int64_t start = (int64_t)shot->start[e], rate = shot_rate[e][q];
            u64 low = (u64)(start + rate), high = (u64)(start + rate * (int64_t)count);
            if (low > high) {
                u64 other = low;
                low = high, high = other;
            }
            if (sizeof(TIME_STAMP) < sizeof(u64) && (high + own->cost) >> 31)
                fault(FAULT_TIME_STAMP, shot->process, 0, 0, 0);
            if (e) {
                own->first[1] = low < own->first[1] ? low : own->first[1];
                own->last[1] = LARGER(own->last[1], high);
            } else {
                own->last[0] = high;
                own->control = high + own->interval;
            }
            Row *row = &rows[e][shot->process];
            if (row->count && row->rate == rate && (row->count == 1 || row->start + row->gap * (int64_t)row->count == start)) {
                if (row->count == 1)
                    row->gap = start - row->start;
                row->count++;
            } else {
                end_row(e, shot->process, row, count);
                *row = (Row){start, 0, rate, 1};
            }
        }
        own->firings += count;
        skipped += count;
    }
    for (int e = 0; e < 2; e++)
        for (u32 p = 0; p < PROCESSES; p++)
            end_row(e, p, &rows[e][p], count);
    u32 moving = 0;
    for (u32 k = 0; k < key_count; k++) {
        const Key *key = &keys[k], *next = key + 1;
        if (k + 1 < key_count && next->group == key->group && next->residue == key->residue && next->phase == key->phase)
            continue; /* the same cell is written once more in the same iteration */
        if (group[key->group].rate)
            keys[moving++] = *key;
        else
            skip_write(now, key->write, (int64_t)count);
    }
    effort += 2 * count * moving + 4 * now->shots;
    int meet = 0; /* whether a cell is written in two iterations: then in their order */
    for (u32 k = 1; k < moving; k++)
        meet |= keys[k].group == keys[k - 1].group && keys[k].residue == keys[k - 1].residue;
    if (meet)
        for (u64 m = 1; m <= count; m++)
            for (u32 k = 0; k < moving; k++)
                skip_write(now, keys[k].write, (int64_t)m);
    else
        for (u32 k = 0; k < moving; k++)
            skip_row(now, keys[k].write, count);
}

/* ---- loops ------------------------------------------------------------------------------------ */

enum { NEVER = 1ull << 62 };

typedef struct {
    int phase;     /* logs that are written: 0, 1 or 2 */
    u32 gap;       /* iterations until the next try */
    u32 failures;  /* in a row */
    u64 entries, next_try;
} Loop;

static Loop loop[LOOPS + 1];
static int tracked = -1; /* the loop that is being logged */
static int periods_on;

/* After failures a loop is left alone for ever more of its entries; never, if PERIODS is 2. */
static void postpone(Loop *own, u32 failures)
{
    if (PERIODS > 1)
        return;
    own->failures += failures;
    own->next_try = own->entries + (1ull << (own->failures < 40 ? own->failures : 40)) - 1;
}

/* The body is longer than a log. */
static void give_up(void)
{
    postpone(&loop[tracked], 4);
    loop[tracked].gap = 0;
    tracked = -1;
    logging = 0;
}

/* A loop begins; returns at which iteration, from 1, `turn_loop` is to be called. */
static u64 begin_loop(u32 l)
{
    Loop *own = &loop[l];
    if (logging || !periods_on || own->entries++ < own->next_try)
        return NEVER;
    own->phase = 0;
    own->gap = 1;
    return 2;
}

static void end_loop(u32 l)
{
    if (tracked == (int)l) {
        postpone(&loop[l], 1);
        tracked = -1;
        logging = 0;
    }
}

/* At the top of an iteration. Returns after how many more it is to be called again; `*count` is the
 * number of iterations that were skipped. */
static u64 turn_loop(u32 l, u64 *count)
{
    Loop *own = &loop[l];
    *count = 0;
    if (tracked != (int)l) {
        if (!own->gap)
            return NEVER;
        tracked = (int)l;
        own->phase = 0;
        begin_log(&logs[0]);
        return 1;
    }
    if (own->phase++ == 0) {
        begin_log(&logs[1]);
        return 1;
    }
    logging = 0;
    tracked = -1;
    own->phase = 0;
    const Log *log = &logs[1];
    u64 saved = 10ull * log->shots + log->reads;
    effort = 10ull * (log->shots + log->writes + log->tests) + 50ull * log->reads;
    if (prove(&logs[0], log) && horizon >= 3) {
        *count = (u64)horizon - 1;
        skip(log, *count);
        if (saved * *count > 2 * effort) {
            own->failures = 0;
            own->gap = 1;
            return 2;
        }
    }
    postpone(own, 1);
    own->gap *= PERIODS > 1 ? 1 : 4;
    return own->gap;
}
