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

State state;

namespace {

constexpr size_t kRunsPerChunk = 1 << 16;
constexpr uint32_t kNone = 0xffffffffu;

uint64_t mix(uint64_t x) {
    x ^= x >> 32;
    x *= 0x9e3779b97f4a7c15ull;
    return x ^ (x >> 29);
}

// Numbers the distinct values of `width` words, in order of first appearance.
class Dictionary {
public:
    explicit Dictionary(uint32_t width)
        : width_{width}, slots_(64, kNone), mask_{63} {}

    uint32_t number(const uint64_t* words) {
        uint64_t hash = 0;
        for (uint32_t i = 0; i < width_; ++i) hash = mix(hash + words[i]);
        for (uint64_t at = hash & mask_;; at = (at + 1) & mask_) {
            const uint32_t found = slots_[at];
            if (found == kNone) return add(words, at);
            const uint64_t* const have = &words_[size_t{found} * width_];
            bool equal = true;
            for (uint32_t i = 0; i < width_; ++i) equal &= have[i] == words[i];
            if (equal) return found;
        }
    }

    // Values that no chunk has yet.
    const uint64_t* pending() const { return words_.data() + size_t{flushed_} * width_; }
    uint32_t pending_count() const { return count_ - flushed_; }
    void flushed() { flushed_ = count_; }
    uint32_t width() const { return width_; }

private:
    uint32_t add(const uint64_t* words, uint64_t at) {
        const uint32_t added = count_++;
        words_.insert(words_.end(), words, words + width_);
        slots_[at] = added;
        if (count_ * 2 > mask_) grow();
        return added;
    }
    void grow() {
        mask_ = mask_ * 2 + 1;
        slots_.assign(mask_ + 1, kNone);
        for (uint32_t i = 0; i < count_; ++i) {
            uint64_t hash = 0;
            for (uint32_t w = 0; w < width_; ++w) hash = mix(hash + words_[size_t{i} * width_ + w]);
            uint64_t at = hash & mask_;
            while (slots_[at] != kNone) at = (at + 1) & mask_;
            slots_[at] = i;
        }
    }

    uint32_t width_;
    uint32_t count_ = 0;
    uint32_t flushed_ = 0;
    std::vector<uint64_t> words_;
    std::vector<uint32_t> slots_;
    uint64_t mask_;
};

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
    bool recording = false;
    bool write_failed = false;
    int write_errno = 0;
    std::string reason;
    std::string message;

    std::vector<uint32_t> module_words;
    std::vector<std::unique_ptr<Dictionary>> modules;
    std::vector<Instance> instances;

    // The arrays that `state` points into.
    std::vector<uint64_t> words;
    std::vector<uint32_t> owner;
    std::vector<uint8_t> is_dirty;
    std::vector<uint32_t> dirty;

    // Numbers of leaves (instances), then of nodes.
    std::vector<uint32_t> value;
    std::vector<Node> nodes;
    std::vector<uint32_t> leaf_parent;

    uint32_t current = 0;
    std::vector<uint32_t> run_state;
    std::vector<uint64_t> run_length;

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
    void column(const std::vector<From>& from) {
        std::vector<T> narrow(from.begin(), from.end());
        bytes(narrow.data(), narrow.size() * sizeof(T));
    }
    template <typename From>
    void column(uint32_t width, const std::vector<From>& from) {
        if (width == 1) column<uint8_t>(from);
        else if (width == 2) column<uint16_t>(from);
        else if (width == 4) column<uint32_t>(from);
        else column<uint64_t>(from);
    }
    template <typename From>
    static uint32_t narrowest(const std::vector<From>& from) {
        uint64_t all = 0;
        for (const From x : from) all |= x;
        return all >> 32 ? 8 : all >> 16 ? 4 : all >> 8 ? 2 : 1;
    }

    void push_run() {
        if (state.run_cycles == 0) return;
        if (!run_state.empty() && run_state.back() == current) {
            run_length.back() += state.run_cycles;
        } else {
            run_state.push_back(current);
            run_length.push_back(state.run_cycles);
        }
        state.run_cycles = 0;
    }

    // Everything so far becomes readable; the dictionaries go first.
    void flush() {
        if (!file || write_failed) return;
        for (uint32_t m = 0; m < modules.size(); ++m) dictionary('V', m, *modules[m]);
        for (uint32_t n = 0; n < nodes.size(); ++n) dictionary('P', n, nodes[n].pairs);
        push_run();
        if (!run_state.empty()) {
            const uint32_t s = narrowest(run_state);
            const uint32_t l = narrowest(run_length);
            chunk('R', s | l << 8, static_cast<uint32_t>(run_state.size()),
                  run_state.size() * (s + l));
            column(s, run_state);
            column(l, run_length);
            run_state.clear();
            run_length.clear();
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
    }
    uint32_t& parent_of(uint32_t at) {
        return at < instances.size() ? leaf_parent[at] : nodes[at - instances.size()].parent;
    }
    void number(uint32_t instance) {
        const Instance& it = instances[instance];
        const uint32_t vector = modules[it.module]->number(&words[it.first_word]);
        if (value[instance] == vector) return;
        value[instance] = vector;
    }
    void combine(uint32_t at) {
        Node& node = nodes[at - instances.size()];
        const uint64_t pair = uint64_t{value[node.left]} << 32 | value[node.right];
        value[at] = node.pairs.number(&pair);
    }

    void say(const std::string& line) {
        if (report < 0) return;
        const char* at = line.data();
        size_t left = line.size();
        while (left) {
            const ssize_t wrote = write(report, at, left);
            if (wrote < 0 && errno == EINTR) continue;
            if (wrote <= 0) return;
            at += wrote;
            left -= static_cast<size_t>(wrote);
        }
    }
    void end(const char* why, const std::string& what) {
        if (!reason.empty()) return;
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
        }
    }

    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_RESTART;
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGALRM}) sigaction(signal, &action, nullptr);
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
    const uint32_t first = static_cast<uint32_t>(r.words.size());
    const uint32_t index = static_cast<uint32_t>(r.instances.size());
    r.instances.push_back({name, module, first});
    r.words.resize(first + r.module_words[module]);
    r.owner.resize(r.words.size(), index);
    r.is_dirty.push_back(0);
    r.dirty.push_back(0);
    state.words = r.words.data();
    state.owner = r.owner.data();
    state.is_dirty = r.is_dirty.data();
    state.dirty = r.dirty.data();
    return first;
}

void start() {
    Recorder& r = recorder;
    r.recording = true;
    r.plant();
    state.dirty_count = 0;
    for (uint32_t i = 0; i < r.instances.size(); ++i) {
        r.is_dirty[i] = 1;
        r.dirty[state.dirty_count++] = i;
        if (r.file) r.text('I', r.instances[i].module, r.instances[i].name);
    }
    state.cycles = 0;
    state.run_cycles = 0;
}

void settle() {
    Recorder& r = recorder;
    const uint32_t count = state.dirty_count;
    if (!r.recording) {
        for (uint32_t i = 0; i < count; ++i) r.is_dirty[r.dirty[i]] = 0;
        state.dirty_count = 0;
        return;
    }
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t leaf = r.dirty[i];
        r.is_dirty[leaf] = 0;
        r.number(leaf);
    }
    for (uint32_t i = 0; i < count; ++i) {
        for (uint32_t at = r.leaf_parent[r.dirty[i]]; at != kNone; at = r.parent_of(at)) {
            r.combine(at);
        }
    }
    state.dirty_count = 0;
    const uint32_t now = r.value.back();
    if (now != r.current) {
        r.push_run();
        r.current = now;
        if (r.run_state.size() >= kRunsPerChunk) r.flush();
    }
}

void attend() {
    state.event = 0;
    if (interrupted) recorder.end("interrupted", std::to_string(int{interrupted}));
    recorder.flush();
    if (recorder.write_failed) recorder.end("unwritable", strerror(recorder.write_errno));
    recorder.say("cycles " + std::to_string(state.cycles) + "\n");
}

bool running() { return recorder.reason.empty(); }
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
