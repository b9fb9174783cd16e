`timescale 1ns/1ps
module bench;
  reg clk = 0;
  real level = 0.5;
  counter dut(.clk(clk), .count(), .state(), .busy());
  always #5 clk = ~clk;
  always @(posedge clk) level = dut.state * 1.5;
  initial begin
    $dumpfile("counter.vcd");
    $dumpvars(0, bench);
    #122 $finish;
  end
endmodule
