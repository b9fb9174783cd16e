module std_reg #(parameter WIDTH = 32) (input logic [WIDTH-1:0] in, input logic write_en, input logic clk, input logic reset, output logic [WIDTH-1:0] out, output logic done);
  always_ff @(posedge clk) begin
    if (reset) begin out <= 0; done <= 0; end
    else if (write_en) begin out <= in; done <= 1; end
    else done <= 0;
  end
endmodule
module std_add #(parameter WIDTH = 32) (input logic [WIDTH-1:0] left, input logic [WIDTH-1:0] right, output logic [WIDTH-1:0] out);
  assign out = left + right;
endmodule
module stage(input logic [7:0] x, input logic go, input logic clk, input logic reset, output logic [7:0] y, output logic done);
  logic [7:0] sum;
  std_add #(8) plus (.left(x), .right(y), .out(sum));
  std_reg #(8) total (.in(sum), .write_en(go & x[0]), .clk(clk), .reset(reset), .out(y), .done(done));
endmodule
module main(input logic [7:0] x, input logic go, input logic clk, input logic reset, output logic [7:0] y, output logic done);
  logic [7:0] between; logic half;
  stage first (.x(x), .go(go), .clk(clk), .reset(reset), .y(between), .done(half));
  stage second (.x(between ^ x), .go(half), .clk(clk), .reset(reset), .y(y), .done(done));
endmodule
