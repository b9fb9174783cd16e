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
  useful: number | null;
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
  /** A stretch of the run that shows it: first cycle, cycle after the last. */
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
  /** Of waiting at a place: for what, and on which line. */
  cause?: string;
  line?: number;
  intervals: () => Intervals;
}

export interface SourceText {
  file: string;
  lines: number;
  parts: [number, string[]][];
}

/** Consecutive stretches: `start` has one entry more than there are, the end of the last. */
export interface Stretches {
  start: Float64Array;
  what: Numbers;
}

/**
 * Classes of cycles, each cycle in one (`over`); or of thread-cycles, each thread in one in every
 * cycle (`of`: the class of a call path that is a thread's state, -1 for others).
 */
export interface Classes {
  names: string[];
  /** Threads, or 1: what a cycle counts. */
  per: number;
  over: Stretches | null;
  of: Int32Array | null;
}

export interface Profile {
  name: string;
  title: string;
  source: string;
  cycles: number;
  complete: boolean;
  stopReason: string;
  periodPs: number | null;
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
  /** Tree t holds `treePath[treeStart[t]]` up to `treePath[treeStart[t + 1]]`, callers first. */
  treeStart: Float64Array;
  treePath: Numbers;
  runs: Stretches;
  classes: Classes;
  rows: Row[];
  tables: Record<string, TableRow[]>;
  series: Series[];
  ladder: Rung[];
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
  if (head.version !== 1) throw new Error(`data of version ${head.version}, not 1`);
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
    runs: { start: sums(array(head.runs.cycles)), what: array(head.runs.tree) },
    classes: head.threads
      ? {
          names: head.threads.names,
          per: head.threads.count,
          over: null,
          of: Int32Array.from(array(head.threads.of), (one) => one - 1),
        }
      : {
          names: head.classes.names,
          per: 1,
          over: { start: sums(array(head.classes.cycles)), what: array(head.classes.index) },
          of: null,
        },
    tables: Object.fromEntries(
      Object.entries(head.tables).map(([kind, rows]) => [kind, (rows as unknown[][]).map(rowOf)]),
    ),
    series: seriesOf(head, array),
  };
}

function frameOf(entry: [string, string, string, [string, string, number][], number | null, number]): Frame {
  const [kind, name, detail, places, latency, generated] = entry;
  const positions = places.map(([level, file, line]) => ({ level, file, line }));
  return { kind, name, detail, positions, latency, generated: generated === 1 };
}

function rowOf(entry: unknown[]): TableRow {
  const [frame, instance, times, cycles, shortest, longest, useful, could, area] = entry as [
    number, string, number, number, number, number, number | null, number, TableRow["area"],
  ];
  return { frame, instance, times, cycles, shortest, longest, useful, couldBeStatic: could === 1, area };
}

/** 0, and the running sums. */
function sums(lengths: Numbers): Float64Array {
  const result = new Float64Array(lengths.length + 1);
  for (let i = 0; i < lengths.length; i++) result[i + 1] = result[i] + lengths[i];
  return result;
}

interface StoredBank {
  cycles: Stored;
  state: Stored;
  columns: number;
  values: Stored;
}

// biome-ignore lint: the head is JSON whose shape this function is about
function seriesOf(head: any, array: (stored: Stored) => Numbers): Series[] {
  const banks = (head.banks as StoredBank[]).map((bank) => ({
    ends: lazy(() => sums(array(bank.cycles))),
    state: array(bank.state),
    columns: bank.columns,
    values: array(bank.values),
    inexact: bank.values.inexact === true,
  }));
  return head.series.map((one: any): Series => {
    const { track, name, metric, unit, path, cause, line } = one;
    const labels = one.labels ?? {};
    if (one.bank === undefined) {
      const intervals = lazy(() => ownIntervals(array(one.gap), array(one.cycles), array(one.value)));
      return { track, name, metric, unit, path, cause, line, labels, inexact: one.value.inexact === true, intervals };
    }
    const bank = banks[one.bank]!;
    const intervals = lazy(() =>
      column(bank.ends(), bank.state, bank.values, bank.columns, one.column),
    );
    return { track, name, metric, unit, path, cause, line, labels, inexact: bank.inexact, intervals };
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

/** One value of a bank: neighbours that are equal are joined. */
function column(
  ends: Float64Array, state: Numbers, values: Numbers, columns: number, index: number,
): Intervals {
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
