#include <systemc.h>

int sc_main(int, char **arguments) {
    sc_signal<bool> clk("clk"), busy("busy");
    sc_signal<sc_uint<4>> count("count");
    sc_signal<sc_uint<2>> state("state");
    sc_trace_file *out = sc_create_vcd_trace_file(arguments[1]);
    out->set_time_unit(1, SC_NS);
    sc_trace(out, clk, "clk");
    sc_trace(out, count, "count");
    sc_trace(out, state, "state");
    sc_trace(out, busy, "busy");
    sc_start(5, SC_NS);
    for (int cycle = 1; cycle < 13; ++cycle) {
        const int now = cycle % 16, shown = now < 3 ? 0 : now < 7 ? 1 : 2;
        clk = true;
        count = now;
        state = shown;
        busy = shown == 1;
        sc_start(5, SC_NS);
        clk = false;
        sc_start(5, SC_NS);
    }
    sc_close_vcd_trace_file(out);
    return 0;
}
