// What a verilated design and its testbench see of the recorder.
//
// The design reports words of probe values that changed (`cyc::word`), the testbench reports
// cycles that are over (`cyc::tick`). Everything else happens out of line in recorder.cpp,
// which is compiled once per machine.
#ifndef CYCLESCOPE_RECORDER_H
#define CYCLESCOPE_RECORDER_H

#include <cstdint>
#include <string>

namespace cyc {

// Thrown out of a running design when it must not be evaluated further.
struct Stopped {};

struct State {
    uint64_t* words = nullptr;         // current probe words of all instances
    const uint32_t* owner = nullptr;   // word -> instance
    uint8_t* is_dirty = nullptr;       // instance -> reported a change in this cycle
    uint32_t* dirty = nullptr;         // instances that did
    uint32_t dirty_count = 0;
    uint64_t run_cycles = 0;           // cycles of the run that is open
    uint64_t cycles = 0;               // cycles that are over
    uint64_t limit = 0;                // stop at this many
    volatile int event = 0;            // the timer or a signal asks for attention
};
extern State state;

// A probe instance introduces itself; returns the index of its first word.
uint32_t instance(const std::string& hierarchical_name, uint32_t module);

// A word of an instance's probe values has changed.
inline void word(uint32_t index, uint64_t value) {
    state.words[index] = value;
    const uint32_t owner = state.owner[index];
    if (!state.is_dirty[owner]) {
        state.is_dirty[owner] = 1;
        state.dirty[state.dirty_count++] = owner;
    }
}

// Begin: reads our own arguments (up to `--`), gives back the rest for the design.
void open(int& argc, char**& argv, const char* layout);
// From here on cycles count and are recorded.
void start();
// A global state that differs from the last one, or an event: see recorder.cpp.
void settle();
void attend();
// False when the run must end early.
bool running();

// One cycle is over; the words hold the values it had at its closing clock edge.
inline void tick() {
    if (state.dirty_count) settle();
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
