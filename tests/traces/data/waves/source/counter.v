// A counter to 15 and a state that follows it: 0 below 3, 1 below 7, then 2.
module counter(input clk, output reg [3:0] count, output reg [1:0] state, output busy);
  assign busy = state == 1;
  initial begin count = 0; state = 0; end
  always @(posedge clk) begin
    count <= count + 1;
    state <= count + 1 < 3 ? 0 : count + 1 < 7 ? 1 : 2;
  end
endmodule
