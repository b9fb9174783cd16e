// Records which combination of probe values held for how many cycles.
//
// Each probe instance has a few 64-bit words. Distinct vectors of words are numbered per module.
// The vector numbers of all instances are the leaves of a binary tree; each inner node numbers
// the distinct pairs of its children's numbers. So the root's number stands for the global state:
// an exact comparison, whose cost follows the instances that changed, and a new state costs a few
// pairs however many instances there are. Runs of equal states are written column-wise.
//
// The file is a sequence of chunks, each complete in itself; a reader takes what is whole.
// See _capture.py for the format.

#include "recorder.h"

#include "dictionary.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include <sys/time.h>
#include <unistd.h>

namespace cyc {

uint64_t words[kMaxWords];
State state;

namespace {

constexpr uint32_t kRunsPerChunk = 1 << 16;
// At most so many states are found without the tree, in at most so many words.
constexpr uint32_t kSlots = 1 << 14;
constexpr uint64_t kSlotWords = 1 << 20;
struct Instance {
    std::string name;
    uint32_t module;
    uint32_t first_word;
};

struct Node {
    Dictionary pairs{1};
    uint32_t left;
    uint32_t right;
    uint32_t parent = kNone;
};

struct Recorder {
    FILE* file = nullptr;
    int report = -1;
    bool started = false;
    bool write_failed = false;
    int write_errno = 0;
    std::string reason;
    std::string message;

    std::vector<uint32_t> module_words;
    std::vector<std::unique_ptr<Dictionary>> modules;
    std::vector<Instance> instances;

    // Words as they were when the tree was last brought up to date.
    std::vector<uint64_t> settled;

    // States seen not long ago: what is known of one, then its words, together in memory.
    struct Slot {
        uint32_t state;
        Slot* next;  // the state that followed the last time, if one did
        uint64_t* vector() { return reinterpret_cast<uint64_t*>(this + 1); }
    };
    static_assert(sizeof(Slot) == 2 * sizeof(uint64_t), "a slot is a row of words");
    // Slots in the order of first use, so that a run which knows few states touches few pages; and
    // the slot of each hash.
    std::vector<uint64_t> slots;
    uint32_t slots_used = 0;
    std::vector<uint32_t> slot_of;
    Slot before{kNone, nullptr};
    Slot* current_slot = &before;

    // Numbers of leaves (instances), then of nodes.
    std::vector<uint32_t> value;
    std::vector<Node> nodes;
    std::vector<uint32_t> leaf_parent;
    std::vector<uint8_t> stale;
    bool settled_once = false;

    uint32_t current = 0;
    uint32_t runs = 0;
    std::vector<uint32_t> run_state = std::vector<uint32_t>(kRunsPerChunk);
    std::vector<uint64_t> run_length = std::vector<uint64_t>(kRunsPerChunk);

    void bytes(const void* data, size_t size) {
        if (write_failed || size == 0) return;
        if (fwrite(data, 1, size, file) != size) fail();
    }
    void fail() {
        if (!write_failed) {
            write_failed = true;
            write_errno = errno;
        }
        state.event = 1;
    }
    void chunk(char tag, uint32_t a, uint32_t b, size_t size) {
        const uint32_t head[4] = {static_cast<uint32_t>(tag), a, b, static_cast<uint32_t>(size)};
        bytes(head, sizeof head);
    }
    void text(char tag, uint32_t a, const std::string& content) {
        chunk(tag, a, 0, content.size());
        bytes(content.data(), content.size());
    }

    void dictionary(char tag, uint32_t index, Dictionary& entries) {
        while (entries.pending_count()) {
            const size_t size = size_t{entries.pending_count()} * entries.width() * 8;
            chunk(tag, index, entries.pending_count(), size);
            bytes(entries.pending(), size);
            entries.flushed();
        }
    }

    template <typename T, typename From>
    void narrowed(const From* from, uint32_t count) {
        const std::vector<T> narrow(from, from + count);
        bytes(narrow.data(), narrow.size() * sizeof(T));
    }
    template <typename From>
    void column(uint32_t width, const From* from, uint32_t count) {
        if (width == 1) narrowed<uint8_t>(from, count);
        else if (width == 2) narrowed<uint16_t>(from, count);
        else if (width == 4) narrowed<uint32_t>(from, count);
        else narrowed<uint64_t>(from, count);
    }
    template <typename From>
    static uint32_t narrowest(const From* from, uint32_t count) {
        uint64_t all = 0;
        for (uint32_t i = 0; i < count; ++i) all |= from[i];
        return all >> 32 ? 8 : all >> 16 ? 4 : all >> 8 ? 2 : 1;
    }

    void push_run() {
        if (state.run_cycles == 0) return;
        run_state[runs] = current;
        run_length[runs] = state.run_cycles;
        ++runs;
        state.run_cycles = 0;
        if (__builtin_expect(runs == kRunsPerChunk, 0)) flush();
    }

    // Everything so far becomes readable; the dictionaries go first.
    [[gnu::noinline]] void flush() {
        if (!file || write_failed) {
            runs = 0;
            return;
        }
        for (uint32_t m = 0; m < modules.size(); ++m) dictionary('V', m, *modules[m]);
        for (uint32_t n = 0; n < nodes.size(); ++n) dictionary('P', n, nodes[n].pairs);
        push_run();
        if (runs) {
            const uint32_t s = narrowest(run_state.data(), runs);
            const uint32_t l = narrowest(run_length.data(), runs);
            chunk('R', s | l << 8, runs, size_t{runs} * (s + l));
            column(s, run_state.data(), runs);
            column(l, run_length.data(), runs);
            runs = 0;
        }
        if (fflush(file) != 0) fail();
    }

    // A binary tree over the instances; an odd one out is paired a level higher.
    void plant() {
        value.resize(instances.size());
        leaf_parent.assign(instances.size(), kNone);
        std::vector<uint32_t> level;
        for (uint32_t i = 0; i < instances.size(); ++i) level.push_back(i);
        while (level.size() > 1) {
            std::vector<uint32_t> above;
            for (size_t i = 0; i + 1 < level.size(); i += 2) {
                Node node;
                node.left = level[i];
                node.right = level[i + 1];
                const uint32_t at = static_cast<uint32_t>(value.size());
                for (const uint32_t child : {level[i], level[i + 1]}) parent_of(child) = at;
                nodes.push_back(std::move(node));
                value.push_back(0);
                above.push_back(at);
            }
            if (level.size() % 2) above.push_back(level.back());
            level.swap(above);
        }
        stale.assign(nodes.size(), 0);
    }
    uint32_t& parent_of(uint32_t at) {
        return at < instances.size() ? leaf_parent[at] : nodes[at - instances.size()].parent;
    }
    // Brings the tree up to date with the words; returns the number of the global state.
    uint32_t settle() {
        for (uint32_t i = 0; i < instances.size(); ++i) {
            const Instance& it = instances[i];
            Dictionary& dictionary = *modules[it.module];
            const uint64_t* const now = words + it.first_word;
            const size_t size = dictionary.width() * sizeof *now;
            uint64_t* const was = &settled[it.first_word];
            if (settled_once && memcmp(now, was, size) == 0) continue;
            memcpy(was, now, size);
            value[i] = dictionary.number(now);
            if (leaf_parent[i] != kNone) stale[leaf_parent[i] - instances.size()] = 1;
        }
        settled_once = true;
        // Children have lower numbers than their parents.
        for (size_t n = 0; n < nodes.size(); ++n) {
            if (!stale[n]) continue;
            stale[n] = 0;
            Node& node = nodes[n];
            const uint64_t pair = uint64_t{value[node.left]} << 32 | value[node.right];
            value[instances.size() + n] = node.pairs.number(&pair);
            if (node.parent != kNone) stale[node.parent - instances.size()] = 1;
        }
        return value.back();
    }

    uint64_t hash() const {
        // Independent products, so that the machine can overlap them.
        uint64_t sum = 0;
        uint64_t factor = 0x9e3779b97f4a7c15ull;
        for (uint32_t i = 0; i < state.count; ++i) {
            sum += words[i] * factor;
            factor += 0x3c6ef372fe94f82aull;
        }
        return mix(sum);
    }

    void change() {
        if (state.count == 0) return;
        push_run();
        // What followed this state the last time often does again.
        Slot* found = current_slot->next;
        if (!found || !hold(found->vector())) {
            found = look_up();
            current_slot->next = found;
        }
        current_slot = found;
        current = found->state;
        state.current = found->vector();
        // The design needs the cache for itself; what probably comes next is fetched meanwhile.
        if (Slot* const after = found->next) {
            __builtin_prefetch(after);
            __builtin_prefetch(after->vector() + state.padded - 1);
        }
    }
    // The slot of the state that the words hold; of two that share a hash the later one stays.
    [[gnu::noinline]] Slot* look_up() {
        uint32_t& at = slot_of[hash() & (slot_of.size() - 1)];
        const bool used = at != kNone;
        if (!used) at = slots_used++;
        Slot* const found = reinterpret_cast<Slot*>(&slots[size_t{at} * row()]);
        if (!used || !hold(found->vector())) {
            memcpy(found->vector(), words, state.padded * sizeof *words);
            found->state = settle();
        }
        return found;
    }
    // Words of a slot.
    static size_t row() { return sizeof(Slot) / sizeof(uint64_t) + state.padded; }

    void say(const std::string& line) {
        if (report < 0) return;
        const char* at = line.data();
        size_t left = line.size();
        while (left) {
            const ssize_t wrote = write(report, at, left);
            if (wrote < 0 && errno == EINTR) continue;
            // Whoever started us is gone; nobody would ever stop us.
            if (wrote <= 0) return end("interrupted", "nobody waits for it");
            at += wrote;
            left -= static_cast<size_t>(wrote);
        }
    }
    void end(const char* why, const std::string& what) {
        if (state.ended) return;
        state.ended = true;
        reason = why;
        message = what;
    }
} recorder;

volatile sig_atomic_t interrupted = 0;

void on_signal(int signal) {
    if (signal != SIGALRM) interrupted = signal;
    state.event = 1;
}

}  // namespace

void open(int& argc, char**& argv, const char* layout) {
    std::string capture;
    double period = 0;
    state.limit = ~uint64_t{0};
    int used = 1;
    for (; used < argc; ++used) {
        const std::string arg = argv[used];
        const size_t eq = arg.find('=');
        if (arg == "--" || eq == std::string::npos) break;
        const std::string key = arg.substr(0, eq);
        const char* const text = argv[used] + eq + 1;
        if (key == "capture") capture = text;
        else if (key == "limit") state.limit = strtoull(text, nullptr, 10);
        else if (key == "report") recorder.report = atoi(text);
        else if (key == "period") period = atof(text);
    }
    argv[used < argc ? used : argc - 1] = argv[0];
    argv += used < argc ? used : argc - 1;
    argc -= used < argc ? used : argc - 1;

    // The layout's first line lists how many words a vector of each module has.
    const char* at = layout;
    while (*at && *at != '\n') {
        char* next;
        recorder.module_words.push_back(static_cast<uint32_t>(strtoul(at, &next, 10)));
        recorder.modules.emplace_back(new Dictionary{recorder.module_words.back()});
        at = *next == ' ' ? next + 1 : next;
    }
    if (!capture.empty()) {
        recorder.file = fopen(capture.c_str(), "wb");
        if (!recorder.file) {
            recorder.fail();
        } else {
            recorder.bytes("CYCAPT\x01\n", 8);
            recorder.text('L', 0, *at ? at + 1 : at);
            if (fflush(recorder.file) != 0) recorder.fail();
        }
    }

    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_RESTART;
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGALRM}) sigaction(signal, &action, nullptr);
    // A file size limit is then an error of the write, as a full disk is.
    signal(SIGXFSZ, SIG_IGN);
    if (period > 0) {
        struct itimerval every;
        every.it_interval.tv_sec = static_cast<time_t>(period);
        every.it_interval.tv_usec = static_cast<suseconds_t>((period - every.it_interval.tv_sec) * 1e6);
        every.it_value = every.it_interval;
        setitimer(ITIMER_REAL, &every, nullptr);
    }
}

uint32_t instance(const std::string& name, uint32_t module) {
    Recorder& r = recorder;
    const uint32_t first = state.count;
    if (r.started) {
        failed("the testbench started before it evaluated the design once");
        throw Stopped{};
    }
    if (r.module_words[module] > kMaxWords - first) {
        failed("more than " + std::to_string(kMaxWords * 64) + " bits to capture");
        throw Stopped{};
    }
    r.instances.push_back({name, module, first});
    state.count += r.module_words[module];
    return first;
}

void start() {
    Recorder& r = recorder;
    r.started = true;
    r.plant();
    for (const Instance& it : r.instances) {
        if (r.file) r.text('I', it.module, it.name);
    }
    r.settled.resize(state.count);
    if (state.count) {
        state.padded = (state.count + 3) / 4 * 4;
        uint32_t count = 1;
        while (count < kSlots && uint64_t{count} * 2 * state.padded <= kSlotWords) count *= 2;
        r.slot_of.assign(count, kNone);
        r.slots.resize(count * Recorder::row());
    }
    state.cycles = 0;
    state.run_cycles = 0;
}

void change() { recorder.change(); }

void attend() {
    state.event = 0;
    if (interrupted) recorder.end("interrupted", std::to_string(int{interrupted}));
    recorder.flush();
    if (recorder.write_failed) recorder.end("unwritable", strerror(recorder.write_errno));
    recorder.say("cycles " + std::to_string(state.cycles) + "\n");
}

void finished() { recorder.end("finish", ""); }
void failed(const std::string& message) { recorder.end("failed", message); }
void done() { recorder.end("done", ""); }

int close() {
    Recorder& r = recorder;
    if (interrupted) r.end("interrupted", std::to_string(int{interrupted}));
    if (state.cycles == state.limit) r.end("limit", "");
    r.end("finish", "");
    r.flush();
    if (r.file) {
        r.text('E', 0, r.reason + " " + std::to_string(state.cycles));
        if (fclose(r.file) != 0) r.fail();
        r.file = nullptr;
    }
    if (r.write_failed) {
        r.reason = "unwritable";
        r.message = strerror(r.write_errno);
    }
    for (char& c : r.message) {
        if (c == '\n') c = ' ';
    }
    r.say("end " + r.reason + " " + std::to_string(state.cycles) + " " + r.message + "\n");
    return 0;
}

}  // namespace cyc
