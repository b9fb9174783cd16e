// Testbench of a design with the ports go, done, clk and reset, in a wrapper that registers go and
// reset: cycle 0 is the first with go high, the run is over in the first cycle that sees done.

int main(int argc, char** argv) {
    cyc::open(argc, argv, cyc_layout);
    VerilatedContext context;
    context.commandArgs(argc, argv);
    Vcyc top{&context};
    const auto cycle = [&] {
        top.clk = 1;
        top.eval();
        top.clk = 0;
        top.eval();
        context.timeInc(1);
    };
    bool initialised = false;
    try {
        top.clk = 0;
        top.eval();
        initialised = true;
        while (!top.go) cycle();
        cyc::start();
        while (!top.done && cyc::more()) {
            cycle();
            cyc::tick();
        }
        if (top.done) cyc::done();
    } catch (const cyc::Stopped&) {
    }
    // A design that fell before its initial blocks were through does not know the folder of its
    // memories: it would write them to the root of the file system.
    try {
        if (initialised) top.final();
    } catch (const cyc::Stopped&) {
    }
    return cyc::close();
}
