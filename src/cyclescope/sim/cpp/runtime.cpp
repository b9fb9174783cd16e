// How a design ends itself: replaces Verilator's handlers, which print and abort.

#include "recorder.h"

#include <string>

#include "verilated.h"

void vl_finish(const char*, int, const char*) {
    Verilated::threadContextp()->gotFinish(true);
    cyc::finished();
}

void vl_stop(const char* file, int line, const char*) {
    cyc::failed("$stop at " + std::string{file} + ":" + std::to_string(line));
    throw cyc::Stopped{};
}

void vl_fatal(const char* file, int line, const char*, const char* message) {
    const std::string at = file && *file ? std::string{file} + ":" + std::to_string(line) + ": " : "";
    cyc::failed(at + message);
    throw cyc::Stopped{};
}
