/** Reads what the Python side packed (views/_report_data.py describes the bytes). */

export type Numbers =
  | Uint8Array
  | Uint16Array
  | Uint32Array
  | Int8Array
  | Int16Array
  | Int32Array
  | Float64Array;

/** A place in a source text. */
export interface Position {
  level: string;
  file: string;
  line: number;
}

/** A static thing that can be active. */
export interface Frame {
  kind: string;
  name: string;
  detail: string;
  positions: Position[];
  latency: number | null;
  generated: boolean;
  /** It runs beside others and is accounted for by itself. */
  track: boolean;
  /** It says itself what its cycles are for, not what calls it. */
  declares: boolean;
}

/** What a unit of an account is for, and how that is shown. */
export interface Use {
  label: string;
  name: string;
  about: string;
  work: boolean;
  /** What has it can be hot. */
  hot: boolean;
  /** Its place among others: by activity, then by cause. */
  rank: [activity: number, cause: number];
  /** On a light page and on a dark one; text on it is white or black. */
  colour: string;
  onDark: string;
  whiteInk: boolean;
}

/** Where all units of a profile went; who counts a part of the run starts from here. */
export interface Account {
  /** `cycles`, `thread-cycles`, … */
  unit: string;
  /** The call path of each track; none for a single root, which then is track 0. */
  tracks: number[];
  /** Units of the whole run: a row for each track, a column for each use. */
  units: Numbers;
  /** The use of every cycle of a single root. */
  over: Segments | null;
  /** The use of each track in each tree, before counters tell its work apart: a row for each tree. */
  ofTrees: Numbers | null;
}

/** What tracks did as a tree to draw: by function, loop, place and use. */
export interface TrackTree {
  frames: Frame[];
  /** For each frame the use that it says, -1 for none. */
  uses: number[];
  parent: Int32Array;
  frame: Numbers;
  order: Numbers;
  /** For each path of the tree those of the profile that it stands for. */
  paths: number[][];
  /** For each part of the account the path at its end. */
  end: Numbers;
}

/** The use of all track-cycles: parts, and the call trees above them. */
export interface TrackStacks {
  track: Numbers;
  /** The end of a part's call path; -1 where its track was not active at all. */
  path: Int32Array;
  use: Numbers;
  units: Numbers;
  /** For each tree and track the path at whose end it is, plus 1. */
  leafOfTrees: Numbers;
  merged: TrackTree;
  /** Tracks apart, where that is another tree. */
  apart: TrackTree | null;
}

/** A place of the program. */
export interface ProgramSite {
  label: string;
  level?: string;
  file?: string;
  line?: number;
}

/** Paths that nest or alternate, never overlap otherwise: one row of the timeline. */
export interface Row {
  instance: number;
  kind: string;
  lane: number;
  extra: number;
  paths: number[];
}

/** What the whole run says of a frame in an instance. */
export interface TableRow {
  frame: number;
  instance: string;
  times: number;
  cycles: number;
  shortest: number;
  longest: number;
  /** Of an account of its own the units of work, and all. */
  useful: [number, number] | null;
  couldBeStatic: boolean;
  /** LUTs, flip-flops, arithmetic blocks, halves of memory blocks; null if not synthesised. */
  area: [number, number, number, number] | null;
}

/** A part of the way between two rungs; negative where things happen side by side. */
export interface Gap {
  name: string;
  cycles: number;
  about: string;
  /** What it is due to: `program`, `control`, `memory`, `threads`, or nothing of these. */
  due: string;
}

/** A number of cycles, and the gaps that lead to it from the rung below. */
export interface Rung {
  name: string;
  cycles: number;
  about: string;
  gaps: Gap[];
}

/** A process of a process network. */
export interface NetworkProcess {
  name: string;
  path: number;
  /** It brings an input or takes an output. */
  port: boolean;
  firings: number;
  /** Cycles from a firing to the next at best; from a firing to its results. */
  interval: number;
  latency: number;
  /** Cycles of the critical path that its firings answer for; null if that is not known. */
  critical: number | null;
  /** The upper left corner of its box. */
  at: [x: number, y: number];
}

/** Values that go from one process to an operand of another. */
export interface Channel {
  operand: string;
  array: string;
  tokens: number;
  reads: number;
  reordered: boolean;
  /** Bits of a value and how many are kept at most; null where there is no hardware. */
  width: number | null;
  depth: number | null;
  /** Cycles for which the consumer waited for its values, and how many firings did. */
  late: number;
  delayed: number;
  /** Cycles for which the producer waited, since it was full. */
  held: number;
  critical: number | null;
}

/** All channels from one process to another. */
export interface NetworkLine {
  from: number;
  to: number;
  /** As SVG has it, and the foot of its text. */
  path: string;
  label: [x: number, y: number];
  /** Its rows, and whether they are of the critical path. */
  words: [text: string, critical: boolean][];
  channels: Channel[];
}

/** A process network, laid out. */
export interface Network {
  width: number;
  height: number;
  node: [width: number, height: number];
  processes: NetworkProcess[];
  lines: NetworkLine[];
}

/** An operation of hardware, in the stages of a loop's iteration. */
export interface Operation {
  name: string;
  /** The expression that it computes, in C. */
  text: string;
  position: Position | null;
  /** In which it begins, and how many until its result is there; 0 for logic in front of what uses it. */
  stage: number;
  stages: number;
  /** Its stage lasts until it is over. */
  waits: boolean;
  /** The operations of its graph whose results it needs. */
  after: number[];
  /** The memory that it accesses, the lock, the loop inside. */
  array: string;
  unit: string;
  bits: number | null;
  /** How many of these there are side by side. */
  count: number;
  /** The graph of the loop inside that it is, -1 for none. */
  graph: number;
  /** The counters of what was waited for there. */
  series: number[];
}

/** A reason for which a loop's interval is not less. */
export interface Bound {
  limit: "recurrence" | "order" | "ports";
  name: string;
  interval: number;
  position: Position | null;
  operations: number[];
  distance: number;
  ports: number;
}

/** The operations of a loop's iteration, or of what is in no loop, in their stages. */
export interface Graph {
  /** The loop's frame, -1 for what is in none. */
  frame: number;
  function: string;
  position: Position | null;
  stages: number;
  interval: number | null;
  /** Cycles from an iteration of a thread to its next at least, if it waits for nothing. */
  apart: number | null;
  /** Stages that an iteration has left before the next begins: what is waited for there adds up. */
  serial: number[];
  /** The graph around it, -1 for none. */
  parent: number;
  operations: Operation[];
  bounds: Bound[];
}

/** Cycles that a change saves: about, at least, at most. */
export type Saving = [number, number, number];

/** What could be changed, and where. */
export interface Finding {
  title: string;
  rule: string;
  change: string;
  check: string;
  see: string;
  saving: Saving;
  sites: Site[];
  /** Further places, and what they save. */
  more: [number, number];
}

export interface Site {
  name: string;
  component: string;
  /** File and line. */
  place: [string, number] | null;
  evidence: string;
  saving: Saving;
  /** An interval of the run that shows it: first cycle, cycle after the last. */
  cycles: [number, number] | null;
}

/** Values over half-open intervals of cycles. */
export interface Intervals {
  start: Float64Array;
  end: Float64Array;
  value: Numbers;
}

/** A counter; its intervals are worked out when somebody looks. */
export interface Series {
  track: string;
  name: string;
  metric: string;
  unit: string;
  path: number;
  inexact: boolean;
  /** Names of values that are no quantities. */
  labels: Record<string, string>;
  /** What it counts is caused by this, and happens there. */
  cause?: string;
  site?: ProgramSite;
  /** Of a track's work it counts what was none: the track, and the use of what it counts. */
  split?: [track: number, use: number];
  /** It says where was waited. */
  waits?: number;
  intervals: () => Intervals;
}

export interface SourceText {
  file: string;
  lines: number;
  parts: [number, string[]][];
}

/** Consecutive segments: `start` has one entry more than there are segments, the end of the last. */
export interface Segments {
  start: Float64Array;
  what: Numbers;
}

/** The part of a frame in an instance in the run's length. */
export interface CriticalKey {
  frame: number;
  instance: string;
  times: number;
  /** Cycles of all activations. */
  total: number;
  /** Own cycles on the path that decides the run. */
  critical: number;
  /** Null if that is not known. */
  slack: number | null;
  /** Cycles by which the run is shorter if each activation is one cycle shorter; null likewise. */
  saved: number | null;
  /** What is of one definition takes one time in all its places. */
  definition: number;
}

/** What some values of a change alone would make of the run, as `cyclescope whatif` has it. */
export interface Curve {
  /** As the command reads it. */
  name: string;
  /** Of its loop; one of its own where it is no loop's. */
  definition: number;
  /** Its value in the run, on average. */
  now: number;
  values: number[];
  /** Cycles of the run; null where a network comes to a standstill. */
  totals: (number | null)[];
}

/** Distinct activations, what they call first; analyse/_activation_graph.py says what each number is. */
export interface ActivationGraph {
  own: Numbers;
  least: Numbers;
  /** Nodes with one number are as long as the longest of them; -1 of the others. */
  alike: Numbers;
  key: Numbers;
  /** How many phases each node has; these in turn, and how often it goes through each. */
  phases: Numbers;
  phase: Numbers;
  times: Numbers;
  /** How many members each phase has; these in turn, and how long after its begin each begins. */
  members: Numbers;
  member: Numbers;
  lead: Numbers;
}

export interface Critical {
  keys: CriticalKey[];
  /** Whose own cycles they are, over time: a call path; null if it is not known when. */
  path: Segments | null;
  graph: ActivationGraph | null;
  /** Of a run of threads or processes; each change by itself. */
  curves: Curve[];
}

/** The clock that a placed and routed design reaches: the delays of its longest path are its period. */
export interface Clock {
  device: string;
  path: PathStep[];
}

export interface PathStep {
  kind: string;
  delayPs: number;
  cell: string;
  net: string;
  part: string;
  level: string;
  file: string;
  /** 0: it belongs to none. */
  line: number;
}

export interface Profile {
  name: string;
  title: string;
  source: string;
  cycles: number;
  complete: boolean;
  stopReason: string;
  periodPs: number | null;
  clock: Clock | null;
  tools: [string, string][];
  inputs: [string, string][];
  options: [string, string][];
  anomalies: { name: string; severity: string; count: number; detail: string }[];
  levels: string[];
  frames: Frame[];
  instances: string[];
  /** For each call path: its caller (-1: a root), frame, instance. */
  parent: Int32Array;
  frame: Numbers;
  instance: Numbers;
  /** Paths depth first, siblings by first activity. */
  order: Numbers;
  /** Tree t has `treePath[treeStart[t]]` up to `treePath[treeStart[t + 1]]`, callers first. */
  treeStart: Float64Array;
  treePath: Numbers;
  runs: Segments;
  /** All uses that may occur, in the order of every list; numbers of uses are places in it. */
  uses: Use[];
  account: Account;
  /** The use of each path as a leaf, and the track it is in (-1: none). */
  useOfPath: Numbers;
  trackOf: Int32Array;
  /** Of a profile with tracks. */
  stacks: TrackStacks | null;
  /** Its tracks run one program: hot places are those of all together. */
  team: boolean;
  rows: Row[];
  tables: Record<string, TableRow[]>;
  series: Series[];
  ladder: Rung[];
  /** A bound of the same program in another model, and what leads to a rung of the ladder. */
  otherBounds: Rung[];
  network: Network | null;
  /** Of hardware made from C: outer loops first. */
  schedules: Graph[];
  critical: Critical | null;
  advice: Finding[];
  sources: SourceText[];
}

interface Stored {
  type: "u1" | "u2" | "u4" | "i1" | "i2" | "i4" | "f8";
  at: number;
  length: number;
  inexact?: boolean;
}

const ARRAYS = {
  u1: Uint8Array,
  u2: Uint16Array,
  u4: Uint32Array,
  i1: Int8Array,
  i2: Int16Array,
  i4: Int32Array,
  f8: Float64Array,
};

/** The profile in a block of base64. */
export async function unpack(name: string, base64: string): Promise<Profile> {
  const text = atob(base64.trim());
  const packed = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) packed[i] = text.charCodeAt(i);
  const inflated = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return read(name, await new Response(inflated).arrayBuffer());
}

/** The profile in a block of bytes. */
export function read(name: string, block: ArrayBuffer): Profile {
  const size = new DataView(block).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(block, 4, size)));
  if (head.version !== 3) throw new Error(`data of version ${head.version}, not 3`);
  const array = (stored: Stored): Numbers =>
    new ARRAYS[stored.type](block, 4 + size + stored.at, stored.length);
  const parent = Int32Array.from(array(head.paths.parent), (above) => above - 1);
  return {
    ...head,
    name,
    frames: head.frames.map(frameOf),
    parent,
    frame: array(head.paths.frame),
    instance: array(head.paths.instance),
    order: array(head.paths.order),
    treeStart: sums(array(head.trees.size)),
    treePath: array(head.trees.path),
    runs: runsOf(head.runs, array),
    account: {
      ...head.account,
      units: array(head.account.units),
      over: head.over ? runsOf(head.over, array) : null,
      ofTrees: head.ofTrees ? array(head.ofTrees) : null,
    },
    useOfPath: array(head.useOfPath),
    stacks: head.stacks && stacksOf(head.stacks, array),
    trackOf: tracksOf(parent, head.account.tracks),
    tables: Object.fromEntries(
      Object.entries(head.tables).map(([kind, rows]) => [kind, (rows as unknown[][]).map(rowOf)]),
    ),
    series: seriesOf(head, array),
    schedules: head.schedules.map(graphOf),
    critical: head.critical && criticalOf(head.critical, array),
  };
}

type StoredPlace = [string, string, number] | null;

function placeOf(stored: StoredPlace): Position | null {
  return stored && { level: stored[0], file: stored[1], line: stored[2] };
}

// biome-ignore lint: the head is JSON whose shape this function is about
function graphOf(stored: any): Graph {
  // biome-ignore lint: as above
  const placed = (one: any) => ({ ...one, position: placeOf(one.position) });
  return {
    ...placed(stored),
    // biome-ignore lint: as above
    operations: stored.operations.map((one: any): Operation => ({ ...placed(one), waits: one.waits === 1 })),
    bounds: stored.bounds.map(placed),
  };
}

// biome-ignore lint: the head is JSON whose shape this function is about
function stacksOf(stored: any, array: (stored: Stored) => Numbers): TrackStacks {
  const above = (one: Stored): Int32Array => Int32Array.from(array(one), (path) => path - 1);
  // biome-ignore lint: as above
  const tree = (one: any): TrackTree => ({
    ...one,
    frames: one.frames.map(frameOf),
    parent: above(one.parent),
    frame: array(one.frame),
    order: array(one.order),
    end: array(one.end),
  });
  return {
    track: array(stored.track),
    path: above(stored.path),
    use: array(stored.use),
    units: array(stored.units),
    leafOfTrees: array(stored.leafOfTrees),
    merged: tree(stored.merged),
    apart: stored.apart && tree(stored.apart),
  };
}

// biome-ignore lint: as above
function criticalOf(stored: any, array: (stored: Stored) => Numbers): Critical {
  const keys = (stored.keys as [number, string, number, number, number, number | null, number | null, number][]).map(
    ([frame, instance, times, total, critical, slack, saved, definition]): CriticalKey => ({
      frame, instance, times, total, critical, slack, saved, definition,
    }),
  );
  const graph = stored.graph && Object.fromEntries(Object.entries(stored.graph).map(([name, one]) => [name, array(one as Stored)]));
  return { keys, path: stored.path && runsOf(stored.path, array), graph, curves: stored.curves as Curve[] };
}

/** For each path the track in which it is, -1 for none. */
export function tracksOf(parent: Int32Array, tracks: number[]): Int32Array {
  const number = new Map(tracks.map((path, track) => [path, track]));
  const of = new Int32Array(parent.length);
  // Callers come before what they call.
  for (let path = 0; path < of.length; path++) {
    of[path] = number.get(path) ?? (parent[path] >= 0 ? of[parent[path]] : -1);
  }
  return of;
}

type StoredFrame = [
  string, string, string, [string, string, number][], number | null, number, number, number,
];

function frameOf(entry: StoredFrame): Frame {
  const [kind, name, detail, places, latency, generated, track, declares] = entry;
  const positions = places.map(([level, file, line]) => ({ level, file, line }));
  return {
    kind, name, detail, positions, latency,
    generated: generated === 1, track: track === 1, declares: declares === 1,
  };
}

function rowOf(entry: unknown[]): TableRow {
  const [frame, instance, times, cycles, shortest, longest, useful, could, area] = entry as [
    number, string, number, number, number, number, TableRow["useful"], number, TableRow["area"],
  ];
  return { frame, instance, times, cycles, shortest, longest, useful, couldBeStatic: could === 1, area };
}

/** 0, and the running sums. */
function sums(lengths: Numbers): Float64Array {
  const result = new Float64Array(lengths.length + 1);
  for (let i = 0; i < lengths.length; i++) result[i + 1] = result[i] + lengths[i];
  return result;
}

interface StoredRuns {
  order: Stored;
  size: Stored;
  cycles: Stored;
  what: Stored;
}

/** Runs of which repeated segments are stored once; neighbours that show the same are one run. */
function runsOf(stored: StoredRuns, array: (stored: Stored) => Numbers): Segments {
  const order = array(stored.order);
  const first = sums(array(stored.size));
  const cycles = array(stored.cycles);
  const shown = array(stored.what);
  let count = 0;
  let last = -1;
  for (const segment of order) {
    for (let row = first[segment]; row < first[segment + 1]; row++) {
      if (shown[row] !== last) count++;
      last = shown[row];
    }
  }
  const start = new Float64Array(count + 1);
  const what = new (shown.constructor as new (length: number) => Numbers)(count);
  let run = -1;
  last = -1;
  for (const segment of order) {
    for (let row = first[segment]; row < first[segment + 1]; row++) {
      if (shown[row] !== last) {
        last = what[++run] = shown[row];
        start[run + 1] = start[run];
      }
      start[run + 1] += cycles[row];
    }
  }
  return { start, what };
}

interface StoredBank {
  runs: StoredRuns;
  /** What the last cycle led to, -1 if nobody knows. */
  after: number;
  columns: number;
  values: Stored;
}

// biome-ignore lint: the head is JSON whose shape this function is about
function seriesOf(head: any, array: (stored: Stored) => Numbers): Series[] {
  const banks = (head.banks as StoredBank[]).map((bank) => ({
    runs: lazy(() => withAfter(runsOf(bank.runs, array), bank.after)),
    columns: bank.columns,
    values: array(bank.values),
    inexact: bank.values.inexact === true,
  }));
  return head.series.map((one: any): Series => {
    const { track, name, metric, unit, path, cause, site, split, waits } = one;
    const labels = one.labels ?? {};
    const known = { track, name, metric, unit, path, cause, site, split, waits, labels };
    if (one.bank === undefined) {
      const intervals = lazy(() => ownIntervals(array(one.gap), array(one.cycles), array(one.value)));
      return { ...known, inexact: one.value.inexact === true, intervals };
    }
    const bank = banks[one.bank]!;
    const intervals = lazy(() =>
      column(bank.runs(), bank.values, bank.columns, one.column),
    );
    return { ...known, inexact: bank.inexact, intervals };
  });
}

function ownIntervals(gap: Numbers, cycles: Numbers, value: Numbers): Intervals {
  const start = new Float64Array(gap.length);
  const end = new Float64Array(gap.length);
  let now = 0;
  for (let i = 0; i < gap.length; i++) {
    start[i] = now + gap[i];
    end[i] = now = start[i] + cycles[i];
  }
  return { start, end, value };
}

/** The runs of a bank with the cycle behind the last one, where that is known. */
function withAfter(runs: Segments, after: number): Segments {
  if (after < 0) return runs;
  const count = runs.what.length;
  const start = new Float64Array(count + 2);
  const what = new Int32Array(count + 1);
  start.set(runs.start);
  what.set(runs.what);
  start[count + 1] = start[count] + 1;
  what[count] = after;
  return { start, what };
}

/** One value of a bank: neighbours that are equal are joined. */
function column(
  runs: Segments, values: Numbers, columns: number, index: number,
): Intervals {
  const { start: ends, what: state } = runs;
  const first: number[] = [];
  let last = NaN;
  for (let i = 0; i < state.length; i++) {
    const value = values[state[i] * columns + index];
    if (value !== last) {
      first.push(i);
      last = value;
    }
  }
  const start = Float64Array.from(first, (i) => ends[i]);
  const end = Float64Array.from(first, (_, n) => ends[n + 1 < first.length ? first[n + 1] : state.length]);
  const value = Float64Array.from(first, (i) => values[state[i] * columns + index]);
  return { start, end, value };
}

function lazy<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}
