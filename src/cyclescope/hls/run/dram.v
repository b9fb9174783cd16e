// One bank of external memory: a channel of DDR4 behind its controller, as the accelerator sees it
// at its own clock. Requests are taken in order, at most one a cycle; reads answer in order.
//
// Timing, in cycles: a request to the open row of its DRAM bank is transferred `cas` after it can
// be issued, one to a closed bank `rcd` + `cas`, one to a bank with another row open `rp` + `rcd` +
// `cas`. A line occupies the data bus for one cycle, a change of direction for `turnaround` more.
// Reads come back `controller` cycles after their transfer. Every `refresh_interval` cycles all
// banks are closed and busy for `refresh`. A seed makes random stalls, for tests.
module dram #(
  parameter LINES = 1024,
  parameter PLACE = 10,
  parameter NUMBER = 0
) (
  input wire clk,
  input wire reset,
  input wire dump,
  input wire [31:0] controller,
  input wire [31:0] cas,
  input wire [31:0] rcd,
  input wire [31:0] rp,
  input wire [31:0] turnaround,
  input wire [31:0] refresh_interval,
  input wire [31:0] refresh,
  input wire [31:0] seed,
  input wire [31:0] stall,
  input wire [31:0] stall_one_in,
  input wire [23:0] address,
  input wire read,
  input wire write,
  input wire [63:0] byteenable,
  input wire [511:0] writedata,
  output wire waitrequest,
  output reg readdatavalid,
  output reg [511:0] readdata,
  output wire row_miss
);
  reg [511:0] lines [0:LINES-1];
  wire [PLACE-1:0] place = address[PLACE-1:0];

  // A row has 8 KiB, 128 lines; 16 banks lie side by side.
  wire [3:0] bank = address[10:7];
  wire [12:0] row = address[23:11];
  reg [12:0] open_row [0:15];
  reg [31:0] free_at [0:15];
  reg [15:0] is_open;

  reg [31:0] now;
  reg [31:0] bus_free;
  reg [31:0] next_refresh;
  reg [31:0] random;
  reg last_write;

  // Answers that are under way: data and the time they are due.
  reg [511:0] answer [0:63];
  reg [31:0] due [0:63];
  reg [5:0] head;
  reg [5:0] tail;
  wire [5:0] under_way = tail - head;

  wire stalled = seed != 0 && random[1:0] == 0;
  wire refreshing = refresh_interval != 0 && now >= next_refresh;
  assign waitrequest = stalled || refreshing || under_way >= 48 || bus_free > now + 24;
  wire accept = (read || write) && !waitrequest;

  wire hit = is_open[bank] && open_row[bank] == row;
  assign row_miss = accept && !hit;
  wire [31:0] start = free_at[bank] > now ? free_at[bank] : now;
  wire [31:0] command = start + (hit ? 0 : is_open[bank] ? rp + rcd : rcd);
  wire [31:0] bus = bus_free + (write != last_write ? turnaround : 0);
  wire [31:0] transfer = command + cas > bus ? command + cas : bus;
  wire late = seed != 0 && {18'd0, random[15:2]} % stall_one_in == 0;
  wire [31:0] extra = late ? {16'd0, random[31:16]} % (stall + 1) : 0;
  wire answers = head != tail && due[head] <= now;

  wire [31:0] random_1 = random ^ (random << 13);
  wire [31:0] random_2 = random_1 ^ (random_1 >> 17);

  // The bits that eight byte enables choose: to a simulator a look-up is less than 64 choices.
  reg [63:0] chosen [0:255];
  reg [511:0] mask;
  integer i;

  reg [2047:0] folder;
  reg [2175:0] name;
  initial begin
    if (!$value$plusargs("RUN=%s", folder)) folder = ".";
    $sformat(name, "%0s/bank%0d.hex", folder, NUMBER);
    $readmemh(name, lines);
    for (i = 0; i < 256; i = i + 1)
      chosen[i] = {{8{i[7]}}, {8{i[6]}}, {8{i[5]}}, {8{i[4]}}, {8{i[3]}}, {8{i[2]}}, {8{i[1]}}, {8{i[0]}}};
  end

  always @(posedge clk) begin
    if (reset) begin
      now <= 0;
      bus_free <= 0;
      next_refresh <= refresh_interval;
      random <= seed + NUMBER;
      last_write <= 0;
      is_open <= 0;
      head <= 0;
      tail <= 0;
      readdatavalid <= 0;
      for (i = 0; i < 16; i = i + 1) free_at[i] <= 0;
    end else begin
      now <= now + 1;
      if (seed != 0) random <= random_2 ^ (random_2 << 5);
      if (accept) begin
        is_open[bank] <= 1;
        open_row[bank] <= row;
        free_at[bank] <= command + 1;
        bus_free <= transfer + 1;
        last_write <= write;
      end
      if (accept && read) begin
        answer[tail] <= lines[place];
        due[tail] <= transfer + controller + extra;
        tail <= tail + 1;
      end
      if (refreshing) begin
        next_refresh <= next_refresh + refresh_interval;
        is_open <= 0;
        for (i = 0; i < 16; i = i + 1) free_at[i] <= start_of_use(free_at[i]) + refresh;
      end
      readdatavalid <= answers;
      if (answers) head <= head + 1;
    end
    if (answers) readdata <= answer[head];
    if (accept && write) begin
      for (i = 0; i < 8; i = i + 1) mask[64*i +: 64] = chosen[byteenable[8*i +: 8]];
      lines[place] <= (lines[place] & ~mask) | (writedata & mask);
    end
    if (dump) begin
      $sformat(name, "%0s/bank%0d.out", folder, NUMBER);
      $writememh(name, lines);
    end
  end

  function [31:0] start_of_use(input [31:0] free);
    start_of_use = free > now ? free : now;
  endfunction
endmodule
