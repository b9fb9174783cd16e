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
    uint32_t padded = 0;      // the same with words that stay zero, up to a multiple of four
    const uint64_t* current = nullptr;  // the words of the run that is open
    volatile int event = 0;   // the timer or a signal asks for attention
    bool ended = false;       // the run must end early
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

// Do the words hold these values? Four at a time: where the first difference is cannot be foreseen,
// and a wrong guess costs more than a few words. From the back: what is inside an instance comes
// before it, and moves less often.
inline bool hold(const uint64_t* values) {
    for (uint32_t i = state.padded; i != 0; i -= 4) {
        const uint64_t* const now = words + i - 4;
        const uint64_t* const then = values + i - 4;
        const uint64_t different = (now[0] ^ then[0]) | (now[1] ^ then[1]) |
                                   (now[2] ^ then[2]) | (now[3] ^ then[3]);
        if (different) return false;
    }
    return true;
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
    return state.cycles != state.limit && !state.ended;
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
