/** What follows from trees and runs, for the whole run or for a part of it. */

import type { Profile, Series, Stretches } from "./data.ts";

/** Cycles from `from` up to, not including, `to`. */
export interface Span {
  from: number;
  to: number;
}

/** The last stretch that begins at or before a cycle. */
export function stretchAt(start: Float64Array, cycle: number): number {
  let low = 0;
  let high = start.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (start[middle] <= cycle) low = middle;
    else high = middle;
  }
  return low;
}

/** Cycles that each number has in a span. */
export function held(stretches: Stretches, count: number, span: Span): Float64Array {
  const result = new Float64Array(count);
  const { start, what } = stretches;
  if (span.to <= span.from) return result;
  for (let i = stretchAt(start, span.from); i < what.length && start[i] < span.to; i++) {
    result[what[i]] += Math.min(start[i + 1], span.to) - Math.max(start[i], span.from);
  }
  return result;
}

/** Cycles that each tree holds in a span; they sum to the span's. */
export function treeCycles(profile: Profile, span: Span): Float64Array {
  return held(profile.runs, profile.treeStart.length - 1, span);
}

const counted = new WeakMap<Profile, Uint16Array>();

/** How many threads each tree has in each class: row by row; for profiles without threads none. */
export function classesOfTrees(profile: Profile): Uint16Array {
  const { names, of } = profile.classes;
  const trees = profile.treeStart.length - 1;
  const before = counted.get(profile);
  if (before) return before;
  const result = new Uint16Array(trees * names.length);
  counted.set(profile, result);
  for (let tree = 0; of && tree < trees; tree++) {
    for (let at = profile.treeStart[tree]; at < profile.treeStart[tree + 1]; at++) {
      const which = of[profile.treePath[at]];
      if (which >= 0) result[tree * names.length + which]++;
    }
  }
  return result;
}

/** Cycles of each class in a span; they sum to the span's, times the threads if there are any. */
export function classCycles(profile: Profile, span: Span): Float64Array {
  const { names, over } = profile.classes;
  if (over) return held(over, names.length, span);
  const result = new Float64Array(names.length);
  const counts = classesOfTrees(profile);
  treeCycles(profile, span).forEach((cycles, tree) => {
    for (let i = 0; i < names.length; i++) result[i] += cycles * counts[tree * names.length + i];
  });
  return result;
}

/** What holds in a cycle: a class, or each state with the threads in it. */
export function classesAt(profile: Profile, cycle: number): [string, number][] {
  const { names, over } = profile.classes;
  if (over) {
    const which = over.what[stretchAt(over.start, cycle)];
    return which === undefined ? [] : [[names[which], 1]];
  }
  const counts = classesOfTrees(profile);
  const tree = profile.runs.what[stretchAt(profile.runs.start, cycle)];
  return names.flatMap((name, i): [string, number][] => {
    const threads = counts[tree * names.length + i];
    return threads ? [[name, threads]] : [];
  });
}

/** Whether cycles of a class did something that the user wants done. */
export function worked(name: string): boolean {
  return name === "useful" || name === "running" || name === "critical";
}

/** What a path's end is to its run: work, or lost to what. */
export function verdict(profile: Profile, path: number): string {
  for (let p = path; p >= 0; p = profile.parent[p]) {
    const frame = profile.frames[profile.frame[p]];
    if (frame.kind === "state") return worked(frame.name) ? "work" : frame.name;
  }
  const { kind } = profile.frames[profile.frame[path]];
  return kind === "cell" || kind === "control" || kind === "thread" ? "overhead" : "work";
}

/** Calls `each` for every tree with cycles. */
export function eachTree(
  profile: Profile,
  weights: Float64Array,
  each: (cycles: number, first: number, end: number) => void,
): void {
  for (let tree = 0; tree < weights.length; tree++) {
    if (weights[tree] > 0) {
      each(weights[tree], profile.treeStart[tree], profile.treeStart[tree + 1]);
    }
  }
}

/**
 * Cycles in which something numbered by `of` (-1: nothing) was active. What several paths share
 * counts once a cycle.
 */
export function activeCycles(
  profile: Profile,
  weights: Float64Array,
  of: ArrayLike<number>,
  count: number,
): Float64Array {
  const result = new Float64Array(count);
  const seen = new Int32Array(count).fill(-1);
  let stamp = 0;
  eachTree(profile, weights, (cycles, first, end) => {
    stamp++;
    for (let i = first; i < end; i++) {
      const which = of[profile.treePath[i]];
      if (which >= 0 && seen[which] !== stamp) {
        seen[which] = stamp;
        result[which] += cycles;
      }
    }
  });
  return result;
}

/** Leaf weights of paths: `own[p] / unit` cycles. */
export interface Leaves {
  own: Float64Array;
  unit: number;
}

/**
 * What each path weighs as a leaf: whole cycles for every stack, or each cycle split evenly among
 * the stacks of its tree. `skip` names paths that are not there; their callers take their place.
 */
export function leafWeights(
  profile: Profile,
  weights: Float64Array,
  scaled: boolean,
  skip?: Uint8Array,
): Leaves {
  const leaves: { cycles: number; ends: number[] }[] = [];
  const inner = new Int32Array(profile.parent.length).fill(-1);
  let unit = 1;
  let stamp = 0;
  eachTree(profile, weights, (cycles, first, end) => {
    stamp++;
    const ends: number[] = [];
    for (let i = end - 1; i >= first; i--) {
      const path = profile.treePath[i];
      if (skip?.[path]) continue;
      if (inner[path] !== stamp) ends.push(path);
      // Callers stand first, so that going backwards each path is known to be one in time.
      for (let above = profile.parent[path]; above >= 0 && inner[above] !== stamp; above = profile.parent[above]) {
        inner[above] = stamp;
      }
    }
    leaves.push({ cycles, ends });
    if (scaled && ends.length) unit = lcm(unit, ends.length);
  });
  // Integers as long as they are exact; nobody sees the difference beyond.
  const total = profile.cycles * unit;
  if (!Number.isSafeInteger(total)) unit = 1;
  const own = new Float64Array(profile.parent.length);
  for (const { cycles, ends } of leaves) {
    const weight = scaled ? (cycles * unit) / ends.length : cycles;
    for (const path of ends) own[path] += weight;
  }
  return { own, unit: scaled ? unit : 1 };
}

function lcm(a: number, b: number): number {
  let [x, y] = [a, b];
  while (y) [x, y] = [y, x % y];
  return (a / x) * b;
}

/** A place in an instance at which cycles were spent. */
export interface Hot {
  instance: string;
  stack: string[];
  frame: number;
  paths: number[];
  cycles: number;
}

/**
 * For each path the number of its place: an instance and a chain of frames inside it. Threads of
 * one team are one place, since they run one program.
 */
export function places(profile: Profile): { of: Int32Array; example: number[] } {
  const known = new Map<string, number>();
  const example: number[] = [];
  const of = new Int32Array(profile.parent.length);
  for (let path = 0; path < of.length; path++) {
    const above = profile.parent[path];
    const kind = profile.frames[profile.frame[path]].kind;
    const starts = above < 0 || kind === "cell";
    const frame = kind === "thread" ? "threads" : profile.frame[path];
    const key = `${starts ? `i${profile.instance[path]}` : of[above]} ${frame}`;
    let place = known.get(key);
    if (place === undefined) {
      known.set(key, (place = example.length));
      example.push(path);
    }
    of[path] = place;
  }
  return { of, example };
}

/**
 * Places with most cycles at their very end: nothing but primitives was active below. Where there
 * are threads, each counts.
 */
export function hottest(profile: Profile, weights: Float64Array, count: number): Hot[] {
  const { of, example } = places(profile);
  const own = new Float64Array(example.length);
  const seen = new Int32Array(example.length).fill(-1);
  const inner = new Int32Array(profile.parent.length).fill(-1);
  let stamp = 0;
  eachTree(profile, weights, (cycles, first, end) => {
    stamp++;
    for (let i = end - 1; i >= first; i--) {
      const path = profile.treePath[i];
      if (profile.frames[profile.frame[path]].kind === "primitive") continue;
      if (profile.parent[path] >= 0) inner[profile.parent[path]] = stamp;
      if (inner[path] === stamp || (!profile.classes.of && seen[of[path]] === stamp)) continue;
      seen[of[path]] = stamp;
      own[of[path]] += cycles;
    }
  });
  const ranked = [...own.keys()].filter((place) => own[place] > 0);
  ranked.sort((a, b) => own[b] - own[a] || a - b);
  return ranked.slice(0, count).map((place) => {
    const last = example[place];
    const stack: string[] = [];
    let at = last;
    for (; at >= 0; at = profile.parent[at]) {
      const frame = profile.frames[profile.frame[at]];
      if (frame.kind === "cell") break;
      stack.unshift(frame.kind === "thread" ? "threads" : frame.name);
    }
    const paths = [...of.keys()].filter((path) => of[path] === place);
    const instance = profile.instances[profile.instance[at >= 0 ? at : last]];
    return { instance, stack, frame: profile.frame[last], paths, cycles: own[place] };
  });
}

/**
 * The sum of a counter over a span, and whether it is exact: of an interval that the span cuts only
 * the total is known, so that it counts by the share of it that is inside.
 */
export function summed(series: Series, span: Span): { sum: number; exact: boolean } {
  const { start, end, value } = series.intervals();
  let sum = 0;
  let exact = true;
  for (let i = 0; i < value.length; i++) {
    const inside = Math.min(end[i], span.to) - Math.max(start[i], span.from);
    if (inside <= 0) continue;
    const length = end[i] - start[i];
    if (inside < length && value[i]) exact = false;
    sum += inside === length ? value[i] : (value[i] * inside) / length;
  }
  return { sum: exact ? sum : Math.round(sum), exact };
}

/** What threads waited for: a cause (`line` 0), or at a place in the source. */
export interface Stall {
  name: string;
  cause: string;
  line: number;
  cycles: number;
  exact: boolean;
}

/** Waiting in a span, summed over threads, the most first. */
export function stalls(profile: Profile, span: Span): Stall[] {
  const found = new Map<string, Stall>();
  for (const series of profile.series) {
    // In an inner loop a thread works; the loop's own lines say for what it waits.
    if (series.metric !== "stall" || series.name === "stalls: inner loop") continue;
    const { name, cause, line } = series;
    const one = found.get(name) ?? { name, cause: cause ?? "", line: line ?? 0, cycles: 0, exact: true };
    const { sum, exact } = summed(series, span);
    one.cycles += sum;
    one.exact &&= exact;
    found.set(name, one);
  }
  return [...found.values()].filter((one) => one.cycles > 0).sort((a, b) => b.cycles - a.cycles);
}

/** What a span says of one line of a source text. */
export interface LineCycles {
  line: number;
  /** Cycles in which something from this line was active; of each thread, where there are any. */
  active: number;
  /** Of these, those in which it, or something that it called, did work. */
  useful: number;
  paths: number[];
  frames: number[];
}

const WORK = new Set(["group", "primitive", "process", "stage"]);

/** The cycles of every line of a level's files, as `cyclescope table P.cyc lines` has them. */
export function lineCycles(
  profile: Profile,
  weights: Float64Array,
  level: string,
): Map<string, LineCycles[]> {
  const number = new Map<string, number>();
  const lines: (LineCycles & { file: string })[] = [];
  const ofFrame = profile.frames.map((frame, index) => {
    const at = frame.positions.find((position) => position.level === level);
    if (!at) return -1;
    const key = `${at.line} ${at.file}`;
    let which = number.get(key);
    if (which === undefined) {
      number.set(key, (which = lines.length));
      lines.push({ file: at.file, line: at.line, active: 0, useful: 0, paths: [], frames: [] });
    }
    lines[which].frames.push(index);
    return which;
  });
  const of = Int32Array.from(profile.frame, (frame) => ofFrame[frame]);
  of.forEach((line, path) => line >= 0 && lines[line].paths.push(path));
  if (profile.classes.of) threadLines(profile, weights, of, lines);
  else plainLines(profile, weights, of, lines);
  const files = new Map<string, LineCycles[]>();
  for (const line of lines) files.set(line.file, [...(files.get(line.file) ?? []), line]);
  for (const list of files.values()) list.sort((a, b) => a.line - b.line);
  return files;
}

/** Each thread counts for itself, and what it does in a state that works is useful. */
function threadLines(
  profile: Profile, weights: Float64Array, of: Int32Array, lines: LineCycles[],
): void {
  const paths = Int32Array.from(of.keys());
  activeCycles(profile, weights, paths, of.length).forEach((cycles, path) => {
    const line = of[path];
    if (line < 0) return;
    // Once, if a loop stands inside another of its own line.
    for (let p = profile.parent[path]; p >= 0; p = profile.parent[p]) if (of[p] === line) return;
    const inside = underThread(profile, path);
    const counted = inside ? cycles : cycles * profile.classes.per;
    lines[line].active += counted;
    // What stands above the threads is neither.
    if (!inside || verdict(profile, path) === "work") lines[line].useful += counted;
  });
}

function underThread(profile: Profile, path: number): boolean {
  for (let p = path; p >= 0; p = profile.parent[p]) {
    if (profile.frames[profile.frame[p]].kind === "thread") return true;
  }
  return false;
}

function plainLines(
  profile: Profile, weights: Float64Array, of: Int32Array, lines: LineCycles[],
): void {
  activeCycles(profile, weights, of, lines.length).forEach((cycles, i) => (lines[i].active = cycles));
  const inner = new Int32Array(of.length).fill(-1);
  const busy = new Int32Array(of.length).fill(-1);
  const seen = new Int32Array(lines.length).fill(-1);
  let stamp = 0;
  eachTree(profile, weights, (cycles, first, end) => {
    stamp++;
    for (let i = end - 1; i >= first; i--) {
      const path = profile.treePath[i];
      const above = profile.parent[path];
      if (above >= 0) inner[above] = stamp;
      const works = WORK.has(profile.frames[profile.frame[path]].kind);
      if (busy[path] !== stamp && (inner[path] === stamp || !works)) continue;
      if (above >= 0) busy[above] = stamp;
      const line = of[path];
      if (line >= 0 && seen[line] !== stamp) {
        seen[line] = stamp;
        lines[line].useful += cycles;
      }
    }
  });
}
