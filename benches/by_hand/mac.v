// The sum of the products of two arrays, written by hand for the memory that `hls` builds for: four
// banks of lines of 64 bytes (Avalon: reads under way, answers of a bank in order). Ports are those
// of what `hls` makes of mac.c for one thread.
//
// Lines of both arrays are asked for in turn, as many ahead as the banks' queues take. They are
// needed in the order in which they were asked for, so each bank's first is the one needed from it.
// One product a cycle: 16 cycles a line of each array, and two in which lines are fetched.
module mac_region (
  input wire clk,
  input wire reset,
  input wire start,
  input wire start_tid,
  input wire [1:0] team,
  input wire team_mask,
  input wire in_order,
  input wire [31:0] base0,
  input wire [31:0] size0,
  input wire [31:0] base1,
  input wire [31:0] size1,
  input wire [31:0] base2,
  input wire [31:0] size2,
  input wire bank0_waitrequest,
  input wire bank0_readdatavalid,
  input wire [511:0] bank0_readdata,
  output wire [23:0] bank0_address,
  output wire bank0_read,
  output wire bank0_write,
  output wire [63:0] bank0_byteenable,
  output wire [511:0] bank0_writedata,
  input wire bank1_waitrequest,
  input wire bank1_readdatavalid,
  input wire [511:0] bank1_readdata,
  output wire [23:0] bank1_address,
  output wire bank1_read,
  output wire bank1_write,
  output wire [63:0] bank1_byteenable,
  output wire [511:0] bank1_writedata,
  input wire bank2_waitrequest,
  input wire bank2_readdatavalid,
  input wire [511:0] bank2_readdata,
  output wire [23:0] bank2_address,
  output wire bank2_read,
  output wire bank2_write,
  output wire [63:0] bank2_byteenable,
  output wire [511:0] bank2_writedata,
  input wire bank3_waitrequest,
  input wire bank3_readdatavalid,
  input wire [511:0] bank3_readdata,
  output wire [23:0] bank3_address,
  output wire bank3_read,
  output wire bank3_write,
  output wire [63:0] bank3_byteenable,
  output wire [511:0] bank3_writedata,
  output wire finished,
  output wire running,
  output wire state_low,
  output wire state_high,
  output wire moving,
  output wire [3:0] waits,
  output wire faulty,
  output wire [15:0] faulty_access,
  output wire faulty_tid,
  output wire [63:0] faulty_offset
);
  localparam IDLE = 3'd0, FETCH_A = 3'd1, FETCH_B = 3'd2, RUN = 3'd3, DRAIN = 3'd4, STORE = 3'd5;
  localparam OVER = 3'd6;

  // The bank of a line: its lowest six pairs of bits, exclusive-ored; one bit a bank.
  function [3:0] bank_of(input [25:0] line);
    bank_of = 4'd1 << (line[1:0] ^ line[3:2] ^ line[5:4] ^ line[7:6] ^ line[9:8] ^ line[11:10]);
  endfunction

  reg [2:0] state;
  wire store_taken;

  // Requests: a line of a, a line of b, and so on.
  reg [25:0] next_a, next_b;
  reg [26:0] to_ask;
  reg b_is_next;
  reg [3:0] asking;    // one bit a bank: a read is wanted from it
  reg [23:0] address;
  reg [3:0] room;      // the queue of the bank takes one more line
  wire [3:0] waitrequest = {
    bank3_waitrequest, bank2_waitrequest, bank1_waitrequest, bank0_waitrequest};
  wire [3:0] read = asking & room;
  wire [3:0] accepted = read & ~waitrequest;
  wire moves = asking == 4'd0 || accepted != 4'd0;
  wire [25:0] line = b_is_next ? next_b : next_a;
  always @(posedge clk) begin
    if (reset) begin
      to_ask <= 0;
      asking <= 0;
    end else if (start) begin
      to_ask <= {(size0[31:6] + {25'd0, size0[5:0] != 0}), 1'b0};
      next_a <= base0[31:6];
      next_b <= base1[31:6];
      b_is_next <= 0;
    end else if (moves) begin
      asking <= to_ask == 0 ? 4'd0 : bank_of(line);
      if (to_ask != 0) begin
        address <= line[25:2];
        to_ask <= to_ask - 1;
        b_is_next <= ~b_is_next;
        if (b_is_next) next_b <= next_b + 1;
        else next_a <= next_a + 1;
      end
    end
  end

  // Answers: a queue of eight lines for each bank.
  wire [3:0] answers = {
    bank3_readdatavalid, bank2_readdatavalid, bank1_readdatavalid, bank0_readdatavalid};
  reg [511:0] queue0 [0:7];
  reg [511:0] queue1 [0:7];
  reg [511:0] queue2 [0:7];
  reg [511:0] queue3 [0:7];
  reg [3:0] tail [0:3];
  reg [3:0] head [0:3];
  reg [3:0] used [0:3];  // in the queue, or on their way
  reg [3:0] there;       // the queue has a line
  wire [3:0] taken;
  integer i;
  always @(posedge clk) begin
    if (bank0_readdatavalid) queue0[tail[0][2:0]] <= bank0_readdata;
    if (bank1_readdatavalid) queue1[tail[1][2:0]] <= bank1_readdata;
    if (bank2_readdatavalid) queue2[tail[2][2:0]] <= bank2_readdata;
    if (bank3_readdatavalid) queue3[tail[3][2:0]] <= bank3_readdata;
    for (i = 0; i < 4; i = i + 1)
      if (reset) begin
        tail[i] <= 0;
        head[i] <= 0;
        used[i] <= 0;
        room[i] <= 1;
        there[i] <= 0;
      end else begin
        if (answers[i]) tail[i] <= tail[i] + 1;
        if (taken[i]) head[i] <= head[i] + 1;
        used[i] <= used[i] + {3'd0, accepted[i]} - {3'd0, taken[i]};
        room[i] <= used[i] + {3'd0, accepted[i]} - {3'd0, taken[i]} < 4'd8;
        there[i] <= tail[i] != head[i] + {3'd0, taken[i]};
      end
  end

  // The lines at work: their first words are next.
  reg [25:0] line_a, line_b;
  reg [3:0] bank;      // of the line that is fetched next
  reg [511:0] words_a, words_b;
  reg [29:0] left;     // elements
  reg [3:0] place;
  wire fetches = (state == FETCH_A || state == FETCH_B) && (bank & there) != 0;
  assign taken = fetches ? bank : 4'd0;
  wire [511:0] first =
    (queue0[head[0][2:0]] & {512{bank[0]}}) | (queue1[head[1][2:0]] & {512{bank[1]}}) |
    (queue2[head[2][2:0]] & {512{bank[2]}}) | (queue3[head[3][2:0]] & {512{bank[3]}});
  reg [1:0] drained;
  always @(posedge clk) begin
    if (state == FETCH_A && fetches) words_a <= first;
    else if (state == RUN) words_a <= words_a >> 32;
    if (state == FETCH_B && fetches) words_b <= first;
    else if (state == RUN) words_b <= words_b >> 32;
    if (reset) state <= IDLE;
    else case (state)
      IDLE: if (start) begin
        line_a <= base0[31:6];
        line_b <= base1[31:6];
        bank <= bank_of(base0[31:6]);
        left <= size0[31:2];
        place <= 0;
        drained <= 0;
        state <= size0[31:2] == 0 ? STORE : FETCH_A;
      end
      FETCH_A: if (fetches) begin
        line_a <= line_a + 1;
        bank <= bank_of(line_b);
        state <= FETCH_B;
      end
      FETCH_B: if (fetches) begin
        line_b <= line_b + 1;
        bank <= bank_of(line_a);
        state <= RUN;
      end
      RUN: begin
        left <= left - 1;
        place <= place + 1;
        if (left == 1) state <= DRAIN;
        else if (place == 15) state <= FETCH_A;
      end
      DRAIN: begin
        drained <= drained + 1;
        if (drained == 3) state <= STORE;
      end
      STORE: if (store_taken) state <= OVER;
      default: ;
    endcase
  end

  // The product in three parts of 18 bits, their sum, the sum of all.
  reg [31:0] x, y, low, middle1, middle2, product, total;
  reg has_words, has_parts, has_product;
  always @(posedge clk) begin
    x <= words_a[31:0];
    y <= words_b[31:0];
    low <= x[17:0] * y[17:0];
    middle1 <= {14'd0, x[31:18]} * {14'd0, y[17:0]};
    middle2 <= {14'd0, x[17:0]} * {14'd0, y[31:18]};
    product <= low + {middle1[13:0], 18'd0} + {middle2[13:0], 18'd0};
    if (reset) {has_words, has_parts, has_product} <= 0;
    else {has_words, has_parts, has_product} <= {state == RUN, has_words, has_parts};
    if (reset || start) total <= 0;
    else if (has_product) total <= total + product;
  end

  // The sum goes to its place.
  reg [3:0] writing;
  reg [63:0] enable;
  assign store_taken = (writing & ~waitrequest) != 0;
  always @(posedge clk) begin
    enable <= 64'd15 << base2[5:0];
    if (reset || store_taken) writing <= 0;
    else if (state == STORE) writing <= bank_of(base2[31:6]);
  end

  wire [23:0] where = writing != 0 ? base2[31:8] : address;
  assign {bank3_read, bank2_read, bank1_read, bank0_read} = read;
  assign {bank3_write, bank2_write, bank1_write, bank0_write} = writing;
  assign bank0_address = where;
  assign bank1_address = where;
  assign bank2_address = where;
  assign bank3_address = where;
  assign bank0_byteenable = enable;
  assign bank1_byteenable = enable;
  assign bank2_byteenable = enable;
  assign bank3_byteenable = enable;
  assign bank0_writedata = {16{total}};
  assign bank1_writedata = {16{total}};
  assign bank2_writedata = {16{total}};
  assign bank3_writedata = {16{total}};

  assign finished = state == OVER;
  assign running = state != IDLE && state != OVER;
  assign moving = running;
  assign state_low = running;
  assign state_high = 0;
  assign waits = 0;
  assign faulty = 0;
  assign faulty_access = 0;
  assign faulty_tid = 0;
  assign faulty_offset = 0;
endmodule
