/** What follows from trees and runs, for the whole run or for a part of it. */

import type { Numbers, ProgramSite, Profile, Series, Segments } from "./data.ts";
import { kindName } from "./text.ts";

/** Cycles from `from` up to, not including, `to`. */
export interface Span {
  from: number;
  to: number;
}

/** The last segment that begins at or before a cycle. */
export function segmentAt(start: Float64Array, cycle: number): number {
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
export function held(segments: Segments, count: number, span: Span): Float64Array {
  const result = new Float64Array(count);
  const { start, what } = segments;
  if (span.to <= span.from) return result;
  for (let i = segmentAt(start, span.from); i < what.length && start[i] < span.to; i++) {
    result[what[i]] += Math.min(start[i + 1], span.to) - Math.max(start[i], span.from);
  }
  return result;
}

/** Cycles of each tree in a span; they sum to the span's. */
export function treeCycles(profile: Profile, span: Span): Float64Array {
  return held(profile.runs, profile.treeStart.length - 1, span);
}

/** Calls `each` for every tree with cycles. */
export function eachTree(
  profile: Profile,
  weights: Float64Array,
  each: (cycles: number, first: number, end: number, tree: number) => void,
): void {
  for (let tree = 0; tree < weights.length; tree++) {
    if (weights[tree] > 0) {
      each(weights[tree], profile.treeStart[tree], profile.treeStart[tree + 1], tree);
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
  let pass = 0;
  eachTree(profile, weights, (cycles, first, end) => {
    pass++;
    for (let i = first; i < end; i++) {
      const which = of[profile.treePath[i]];
      if (which >= 0 && seen[which] !== pass) {
        seen[which] = pass;
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
  let pass = 0;
  eachTree(profile, weights, (cycles, first, end) => {
    pass++;
    const ends: number[] = [];
    for (let i = end - 1; i >= first; i--) {
      const path = profile.treePath[i];
      if (skip?.[path]) continue;
      if (inner[path] !== pass) ends.push(path);
      // Callers come first, so that going backwards each path is known to be one in time.
      for (let above = profile.parent[path]; above >= 0 && inner[above] !== pass; above = profile.parent[above]) {
        inner[above] = pass;
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

/** Cycles of a span in which each tree has each use: a row for each tree. Of a single root. */
function treeUses(profile: Profile, over: Segments, span: Span): Float64Array {
  const width = profile.uses.length;
  const result = new Float64Array((profile.treeStart.length - 1) * width);
  const { runs } = profile;
  let use = segmentAt(over.start, span.from);
  for (let run = segmentAt(runs.start, span.from); run < runs.what.length && runs.start[run] < span.to; run++) {
    const end = Math.min(runs.start[run + 1], span.to);
    let now = Math.max(runs.start[run], span.from);
    while (now < end && use < over.what.length) {
      const until = Math.min(over.start[use + 1], end);
      result[runs.what[run] * width + over.what[use]] += until - now;
      if (over.start[use + 1] <= end) use++;
      now = until;
    }
  }
  return result;
}

/**
 * The use of most of the own cycles of something, by its own use: beside other work a cycle is work,
 * but not its own.
 */
function mainUse(profile: Profile, own: number, cycles: Float64Array): number {
  let use = own;
  if (profile.uses[own].work) return own;
  cycles.forEach((count, at) => !profile.uses[at].work && count > cycles[use] && (use = at));
  return use;
}

/** For each path the use of most of its own cycles in a span, as the account has them. */
export function usesOfOwn(profile: Profile, weights: Float64Array, span: Span): Int32Array {
  const own = Int32Array.from(profile.useOfPath);
  const { over } = profile.account;
  if (!over) return own;
  const width = profile.uses.length;
  const inTrees = treeUses(profile, over, span);
  const uses = new Float64Array(own.length * width);
  const inner = new Int32Array(own.length).fill(-1);
  let pass = 0;
  eachTree(profile, weights, (_, first, end, tree) => {
    pass++;
    for (let i = end - 1; i >= first; i--) {
      const path = profile.treePath[i];
      if (profile.parent[path] >= 0) inner[profile.parent[path]] = pass;
      if (inner[path] === pass) continue;
      for (let use = 0; use < width; use++) uses[path * width + use] += inTrees[tree * width + use];
    }
  });
  return own.map((use, path) => mainUse(profile, use, uses.subarray(path * width, (path + 1) * width)));
}

/** A place in an instance at which cycles were spent. */
export interface Hot {
  instance: string;
  stack: string[];
  frame: number;
  paths: number[];
  cycles: number;
  /** The use of most of them in the account; of work beside it nothing is its own. */
  use: number;
  /** Those of them in which nothing else did work either. */
  lost: number;
}

/**
 * For each path the number of its place: an instance and a chain of frames inside it. The tracks of
 * a team are one place, since they run one program.
 */
export function places(profile: Profile): { of: Int32Array; example: number[] } {
  const known = new Map<string, number>();
  const example: number[] = [];
  const of = new Int32Array(profile.parent.length);
  for (let path = 0; path < of.length; path++) {
    const above = profile.parent[path];
    const { kind, track } = profile.frames[profile.frame[path]];
    const starts = above < 0 || kind === "cell";
    const key = profile.team && track
      ? `team ${above}`
      : `${starts ? `i${profile.instance[path]}` : of[above]} ${profile.frame[path]}`;
    let place = known.get(key);
    if (place === undefined) {
      known.set(key, (place = example.length));
      example.push(path);
    }
    of[path] = place;
  }
  return { of, example };
}

function rootOf(profile: Profile, path: number): number {
  let root = path;
  while (profile.parent[root] >= 0) root = profile.parent[root];
  return root;
}

/**
 * Places with most own cycles: nothing but primitives was active below. Each track of a team counts.
 */
export function hottest(profile: Profile, weights: Float64Array, span: Span, count: number): Hot[] {
  const { of, example } = places(profile);
  const own = new Float64Array(example.length);
  const { over } = profile.account;
  const width = profile.uses.length;
  const inTrees = over && treeUses(profile, over, span);
  const uses = new Float64Array(example.length * width);
  const seen = new Int32Array(example.length).fill(-1);
  const inner = new Int32Array(profile.parent.length).fill(-1);
  let pass = 0;
  eachTree(profile, weights, (cycles, first, end, tree) => {
    pass++;
    for (let i = end - 1; i >= first; i--) {
      const path = profile.treePath[i];
      if (profile.frames[profile.frame[path]].kind === "primitive") continue;
      if (profile.parent[path] >= 0) inner[profile.parent[path]] = pass;
      if (inner[path] === pass || (!profile.team && seen[of[path]] === pass)) continue;
      seen[of[path]] = pass;
      own[of[path]] += cycles;
      if (!inTrees) uses[of[path] * width + profile.useOfPath[path]] += cycles;
      else for (let use = 0; use < width; use++) uses[of[path] * width + use] += inTrees[tree * width + use];
    }
  });
  const hot = (place: number): boolean => profile.uses[profile.useOfPath[example[place]]].hot;
  const ranked = [...own.keys()].filter((place) => own[place] > 0 && hot(place));
  ranked.sort((a, b) => own[b] - own[a] || a - b);
  return ranked.slice(0, count).map((place) => {
    const last = example[place];
    const paths = [...of.keys()].filter((path) => of[path] === place);
    const stack: string[] = [];
    let root = last;
    for (let at = last; at >= 0; at = profile.parent[at]) {
      const frame = profile.frames[profile.frame[at]];
      root = at;
      if (frame.kind === "cell" && !profile.team) break;
      if (frame.kind !== "cell" && !(profile.team && frame.track)) stack.unshift(frame.name);
    }
    const heads = new Set(profile.team ? paths.map((path) => rootOf(profile, path)) : []);
    const instance = heads.size > 1
      ? kindName(profile.frames[profile.frame[root]].kind)
      : profile.instances[profile.instance[profile.team ? root : last]];
    const mine = uses.subarray(place * width, (place + 1) * width);
    const lost = mine.reduce((sum, cycles, use) => (profile.uses[use].work ? sum : sum + cycles), 0);
    const use = mainUse(profile, profile.useOfPath[last], mine);
    return { instance, stack, frame: profile.frame[last], paths, cycles: own[place], use, lost };
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

/** Waiting at a place of the program, by what counts it there. */
export interface Stall {
  name: string;
  cause: string;
  site: ProgramSite | undefined;
  cycles: number;
  exact: boolean;
}

/** Where was waited in a span, the most first. Who waits in several places at once counts in each. */
export function stalls(profile: Profile, span: Span): Stall[] {
  const found = new Map<string, Stall>();
  for (const series of profile.series) {
    if (!series.waits) continue;
    const { name, site, cause = "" } = series;
    const key = site ? [cause, site.label, site.file, site.line].join("\0") : name;
    const one = found.get(key) ?? { name: site?.label ?? name, cause, site, cycles: 0, exact: true };
    const { sum, exact } = summed(series, span);
    one.cycles += sum;
    one.exact &&= exact;
    found.set(key, one);
  }
  return [...found.values()].filter((one) => one.cycles > 0).sort((a, b) => b.cycles - a.cycles);
}

/** What a span says of one line of a source text. */
export interface LineCycles {
  line: number;
  /** Cycles in which something from this line was active; of tracks those of each. */
  active: number;
  /** Of these, those in which it, or something that it called, did work. */
  useful: number;
  paths: number[];
  frames: number[];
}

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
  if (profile.account.ofTrees) trackLines(profile, profile.account.ofTrees, weights, of, lines);
  else plainLines(profile, weights, of, lines);
  const files = new Map<string, LineCycles[]>();
  for (const line of lines) files.set(line.file, [...(files.get(line.file) ?? []), line]);
  for (const list of files.values()) list.sort((a, b) => a.line - b.line);
  return files;
}

/** Each track counts for itself, and what it is at as a leaf is useful or not. */
function trackLines(
  profile: Profile, ofTrees: Numbers, weights: Float64Array, of: Int32Array, lines: LineCycles[],
): void {
  const tracks = profile.account.tracks.length;
  // For each line and track the tree in which it was seen last: a line counts once for each.
  const seen = new Int32Array(lines.length * tracks).fill(-1);
  weights.forEach((cycles, tree) => {
    if (!cycles) return;
    const add = (line: number, track: number): void => {
      if (seen[line * tracks + track] === tree) return;
      seen[line * tracks + track] = tree;
      lines[line].active += cycles;
      if (profile.uses[ofTrees[tree * tracks + track]].work) lines[line].useful += cycles;
    };
    for (let at = profile.treeStart[tree]; at < profile.treeStart[tree + 1]; at++) {
      const path = profile.treePath[at];
      const track = profile.trackOf[path];
      if (track >= 0 && of[path] >= 0) add(of[path], track);
      if (track < 0 || !profile.frames[profile.frame[path]].track) continue;
      for (let p = profile.parent[path]; p >= 0; p = profile.parent[p]) if (of[p] >= 0) add(of[p], track);
    }
  });
}

function plainLines(
  profile: Profile, weights: Float64Array, of: Int32Array, lines: LineCycles[],
): void {
  activeCycles(profile, weights, of, lines.length).forEach((cycles, i) => (lines[i].active = cycles));
  const inner = new Int32Array(of.length).fill(-1);
  const busy = new Int32Array(of.length).fill(-1);
  const seen = new Int32Array(lines.length).fill(-1);
  let pass = 0;
  eachTree(profile, weights, (cycles, first, end) => {
    pass++;
    for (let i = end - 1; i >= first; i--) {
      const path = profile.treePath[i];
      const above = profile.parent[path];
      if (above >= 0) inner[above] = pass;
      const { work: works } = profile.uses[profile.useOfPath[path]];
      if (busy[path] !== pass && (inner[path] === pass || !works)) continue;
      if (above >= 0) busy[above] = pass;
      const line = of[path];
      if (line >= 0 && seen[line] !== pass) {
        seen[line] = pass;
        lines[line].useful += cycles;
      }
    }
  });
}
