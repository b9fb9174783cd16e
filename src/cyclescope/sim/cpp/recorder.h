// What a verilated design and its testbench see of the recorder.
//
// The design stores probe values in `cyc::words`, the testbench reports cycles that are over
// (`cyc::tick`). Everything else happens out of line in recorder.cpp, which is compiled once per
// machine.
#ifndef CYCLESCOPE_RECORDER_H
#define CYCLESCOPE_RECORDER_H

#include <cstdint>
#include <string>

namespace cyc {

// Thrown out of a running design when it must not be evaluated further.
struct Stopped {};

// Probe words of all instances; an instance's are neighbours. Their addresses are known when the
// design is compiled, so that storing one costs no more than a store.
constexpr uint32_t kMaxWords = 1 << 18;
extern uint64_t words[kMaxWords];

struct State {
    uint64_t run_cycles = 0;  // cycles of the run that is open
    uint64_t cycles = 0;      // cycles that are over
    uint64_t limit = 0;       // stop at this many
    uint32_t count = 0;       // words in use
    const uint64_t* current = nullptr;  // the words of the run that is open
    volatile int event = 0;   // the timer or a signal asks for attention
};
extern State state;

// A probe instance introduces itself; returns the index of its first word.
uint32_t instance(const std::string& hierarchical_name, uint32_t module);

// Begin: reads our own arguments (up to `--`), gives back the rest for the design.
void open(int& argc, char**& argv, const char* layout);
// From here on cycles count and are recorded. The design must have been evaluated once before.
void start();
// The words may differ from those of the open run: begins another.
void change();
// An event: see recorder.cpp.
void attend();
// False when the run must end early.
bool running();

// Do the words hold these values? Four at a time: where the first difference is cannot be foreseen,
// and a wrong guess costs more than a few words.
inline bool hold(const uint64_t* values) {
    const uint32_t count = state.count;
    uint32_t i = 0;
    for (; i + 4 <= count; i += 4) {
        const uint64_t different = (words[i] ^ values[i]) | (words[i + 1] ^ values[i + 1]) |
                                   (words[i + 2] ^ values[i + 2]) | (words[i + 3] ^ values[i + 3]);
        if (different) return false;
    }
    uint64_t different = 0;
    for (; i < count; ++i) different |= words[i] ^ values[i];
    return different == 0;
}

// One cycle is over; the words hold the values it had at its closing clock edge.
inline void tick() {
    if (state.run_cycles == 0 || !hold(state.current)) change();
    ++state.run_cycles;
    ++state.cycles;
}

// May another cycle begin?
inline bool more() {
    if (__builtin_expect(state.event != 0, 0)) attend();
    return state.cycles != state.limit && running();
}

// The design called $finish, or failed; the first reason wins.
void finished();
void failed(const std::string& message);
// The testbench saw the end it waits for.
void done();
// Close the capture, report why the run ended. Returns the process's exit status.
int close();

}  // namespace cyc

#endif
