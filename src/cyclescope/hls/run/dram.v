// One bank of external memory: a channel of DDR4 behind its controller, as the accelerator sees it
// at its own clock. Requests are taken in order, at most one a cycle; reads answer in order.
//
// Timing, in cycles: a request to the open row of its DRAM bank is transferred `cas` after it can
// be issued, one to a closed bank `rcd` + `cas`, one to a bank with another row open `rp` + `rcd` +
// `cas`; a row stays open for `ras` and until `wr` behind a write's transfer. A DRAM bank's column
// commands are a cycle apart, those of a bank group `ccd`. Four activations take more than `faw`.
// A line occupies the data bus for `line` cycles, a change of direction for `turnaround` more.
// Reads come back `controller` cycles after their transfer. Every `refresh_interval` cycles all
// banks are closed and busy for `refresh`. A seed makes random stalls, for tests.
//
// With a `window` of 0 a request is issued when it is taken. Else so many wait at the most, and the
// oldest of those whose row is open goes first, or else the oldest; none is passed over more than
// 16 times. Contents change in the order of the requests all the same.
//
// With `shared` the banks have one data bus (`channel`): `may` says who issues, `taken` how long
// the bus is.
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
  input wire [31:0] ras,
  input wire [31:0] wr,
  input wire [31:0] ccd,
  input wire [31:0] faw,
  input wire [31:0] line,
  input wire [31:0] turnaround,
  input wire [31:0] shared,
  input wire [31:0] window,
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
  output wire row_miss,
  output wire wants,
  input wire may,
  output wire issue,
  output wire issue_write,
  output wire [31:0] transfer,
  input wire [31:0] taken,
  input wire taken_by_write
);
  reg [511:0] lines [0:LINES-1];
  wire [PLACE-1:0] place = address[PLACE-1:0];

  // A row has 8 KiB, 128 lines; 16 banks lie side by side, in four groups.
  reg [12:0] open_row [0:15];
  reg [31:0] free_at [0:15];
  reg [31:0] opened_at [0:15];
  reg [31:0] written_at [0:15];
  reg [31:0] group_free [0:3];
  reg [31:0] opened [0:3];
  reg [1:0] oldest_opened;
  reg [15:0] is_open;

  // Time begins late, so that what never was is long ago.
  localparam [31:0] START = 1 << 21;
  reg [31:0] now;
  reg [31:0] bus_free;
  reg [31:0] next_refresh;
  reg [31:0] random;
  reg last_write;

  // Answers that are under way: data, whether its request is issued, and the time it is due.
  reg [511:0] answer [0:63];
  reg [31:0] due [0:63];
  reg [63:0] known;
  reg [5:0] head;
  reg [5:0] tail;
  wire [5:0] under_way = tail - head;

  // Requests that wait to be issued, the oldest first.
  reg [16:0] held_address [0:15];  // row and DRAM bank
  reg held_write [0:15];
  reg [5:0] held_slot [0:15];
  reg [4:0] held;
  reg [4:0] passed;
  wire queued = window != 0;

  wire stalled = seed != 0 && random[1:0] == 0;
  wire refreshing = refresh_interval != 0 && now >= next_refresh;
  wire [31:0] bus_now = shared != 0 ? taken : bus_free;
  // No more is issued than the bus can take soon: what waits can still change places.
  wire room = !refreshing && bus_now <= now + (queued ? cas + rcd + rp : 24);
  assign waitrequest = stalled || refreshing || under_way >= 48
    || (queued ? held >= (window < 16 ? window[4:0] : 5'd16) : !room || !may);
  wire accept = (read || write) && !waitrequest && !reset;

  // The request that is issued: the one that comes in, or one of those that wait.
  reg [3:0] chosen;
  reg found;
  integer n;
  always @* begin
    chosen = 0;
    found = 0;
    for (n = 0; n < 16; n = n + 1)
      if (!found && n < held && passed < 16 && is_open[held_address[n][3:0]]
          && open_row[held_address[n][3:0]] == held_address[n][16:4]
          && free_at[held_address[n][3:0]] <= now) begin
        chosen = n[3:0];
        found = 1;
      end
  end
  assign wants = queued ? held != 0 && room : (read || write) && !stalled && under_way < 48 && room;
  assign issue = queued ? wants && may : accept;
  assign issue_write = queued ? held_write[chosen] : write;
  wire [3:0] bank = queued ? held_address[chosen][3:0] : address[10:7];
  wire [12:0] row = queued ? held_address[chosen][16:4] : address[23:11];
  wire [5:0] slot = queued ? held_slot[chosen] : tail;

  wire hit = is_open[bank] && open_row[bank] == row;
  assign row_miss = issue && !hit;
  wire [31:0] start = later(free_at[bank], now);
  wire [31:0] close = later(start, later(ras == 0 ? 0 : opened_at[bank] + ras, wr == 0 ? 0 : written_at[bank] + wr));
  wire [31:0] first = is_open[bank] ? close + rp : start;
  wire [1:0] newest_opened = oldest_opened - 1;
  wire [31:0] window_of_four = opened[oldest_opened] + faw;
  wire [31:0] open = faw == 0 ? first
    : later(later(first, window_of_four), opened[newest_opened]);
  wire [31:0] ready = hit ? start : open + rcd;
  wire [31:0] command = ccd == 0 ? ready : later(ready, group_free[bank[1:0]]);
  wire turns = issue_write != (shared != 0 ? taken_by_write : last_write);
  wire [31:0] bus = bus_now + (turns ? turnaround : 0);
  assign transfer = later(command + cas, bus);
  wire late = seed != 0 && {18'd0, random[15:2]} % stall_one_in == 0;
  wire [31:0] extra = late ? {16'd0, random[31:16]} % (stall + 1) : 0;
  wire answers = head != tail && known[head] && due[head] <= now;

  wire [31:0] random_1 = random ^ (random << 13);
  wire [31:0] random_2 = random_1 ^ (random_1 >> 17);

  // The bits that eight byte enables choose: to a simulator a look-up is less than 64 choices.
  reg [63:0] bytes [0:255];
  reg [511:0] mask;
  integer i;

  reg [2047:0] folder;
  reg [2175:0] name;
  initial begin
    if (!$value$plusargs("RUN=%s", folder)) folder = ".";
    $sformat(name, "%0s/bank%0d.hex", folder, NUMBER);
    $readmemh(name, lines);
    for (i = 0; i < 256; i = i + 1)
      bytes[i] = {{8{i[7]}}, {8{i[6]}}, {8{i[5]}}, {8{i[4]}}, {8{i[3]}}, {8{i[2]}}, {8{i[1]}}, {8{i[0]}}};
  end

  always @(posedge clk) begin
    if (reset) begin
      now <= START;
      bus_free <= 0;
      next_refresh <= START + refresh_interval;
      random <= seed + NUMBER;
      last_write <= 0;
      is_open <= 0;
      head <= 0;
      tail <= 0;
      known <= 0;
      held <= 0;
      passed <= 0;
      oldest_opened <= 0;
      readdatavalid <= 0;
      for (i = 0; i < 4; i = i + 1) begin
        group_free[i] <= 0;
        opened[i] <= 0;
      end
      for (i = 0; i < 16; i = i + 1) free_at[i] <= 0;
    end else begin
      now <= now + 1;
      if (seed != 0) random <= random_2 ^ (random_2 << 5);
      if (issue) begin
        is_open[bank] <= 1;
        open_row[bank] <= row;
        free_at[bank] <= command + 1;
        group_free[bank[1:0]] <= command + ccd;
        bus_free <= transfer + line;
        last_write <= issue_write;
        // What was written to a row that is closed now no longer matters.
        if (issue_write || !hit) written_at[bank] <= issue_write ? transfer + line : 0;
        if (!hit) begin
          opened_at[bank] <= open;
          opened[oldest_opened] <= open;
          oldest_opened <= oldest_opened + 1;
        end
      end
      if (accept && read) begin
        answer[tail] <= lines[place];
        tail <= tail + 1;
        known[tail] <= 0;
      end
      if (issue && !issue_write) begin
        due[slot] <= transfer + controller + extra;
        known[slot] <= 1;
      end
      if (queued) begin
        for (i = 0; i < 15; i = i + 1)
          if (issue && i >= chosen) begin
            held_address[i] <= held_address[i + 1];
            held_write[i] <= held_write[i + 1];
            held_slot[i] <= held_slot[i + 1];
          end
        if (accept) begin
          held_address[held - {4'd0, issue}] <= address[23:7];
          held_write[held - {4'd0, issue}] <= write;
          held_slot[held - {4'd0, issue}] <= tail;
        end
        held <= held + {4'd0, accept} - {4'd0, issue};
        if (issue) passed <= chosen == 0 ? 0 : passed + 1;
      end
      if (refreshing) begin
        next_refresh <= next_refresh + refresh_interval;
        is_open <= 0;
        for (i = 0; i < 16; i = i + 1) free_at[i] <= later(free_at[i], now) + refresh;
      end
      readdatavalid <= answers;
      if (answers) head <= head + 1;
    end
    if (answers) readdata <= answer[head];
    if (accept && write) begin
      for (i = 0; i < 8; i = i + 1) mask[64*i +: 64] = bytes[byteenable[8*i +: 8]];
      lines[place] <= (lines[place] & ~mask) | (writedata & mask);
    end
    if (dump) begin
      $sformat(name, "%0s/bank%0d.out", folder, NUMBER);
      $writememh(name, lines);
    end
  end

  function [31:0] later(input [31:0] one, input [31:0] other);
    later = one > other ? one : other;
  endfunction
endmodule

// The data bus that banks share: one of those that want issues, in turn.
module channel #(
  parameter BANKS = 4
) (
  input wire clk,
  input wire reset,
  input wire shared,
  input wire [31:0] line,
  input wire [BANKS-1:0] wants,
  output reg [BANKS-1:0] may,
  input wire [BANKS-1:0] issue,
  input wire [BANKS-1:0] issue_write,
  input wire [32*BANKS-1:0] transfer,
  output reg [31:0] taken,
  output reg taken_by_write
);
  reg [31:0] last;
  reg found;
  integer n, b;
  always @* begin
    may = {BANKS{!shared}};
    found = 0;
    for (n = 1; n <= BANKS; n = n + 1)
      if (shared && !found && wants[(last + n) % BANKS]) begin
        may[(last + n) % BANKS] = 1;
        found = 1;
      end
  end
  always @(posedge clk)
    if (reset) begin
      last <= BANKS - 1;
      taken <= 0;
      taken_by_write <= 0;
    end else
      for (b = 0; b < BANKS; b = b + 1)
        if (shared && issue[b]) begin
          last <= b;
          taken <= transfer[32*b +: 32] + line;
          taken_by_write <= issue_write[b];
        end
endmodule
