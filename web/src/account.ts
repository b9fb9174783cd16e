/**
 * The account of a part of the run, from what Python says of the whole: the use of each track in
 * each tree (of a single root, of each cycle), and the counters that tell its work apart.
 *
 * A counter gives a total for each of its intervals. Of an interval that a span cuts, it counts by
 * the part of the track's cycles of work in it that is inside: never more than there is.
 */

import { binsOnce } from "./bins.ts";
import type { Intervals, Profile, Series, Use } from "./data.ts";
import { type Span, held, segmentAt, treeCycles } from "./derive.ts";

/** Units of a span: a row for each track, a column for each use. */
export interface Units {
  of: Float64Array;
  /** For each use whether its units are exact; where not, a sample is cut. */
  exact: boolean[];
}

/** How many tracks there are; a single root is one. */
export function tracksIn(profile: Profile): number {
  return Math.max(profile.account.tracks.length, 1);
}

/** What tracks are, if all are of one kind. */
export function trackKind(profile: Profile): string {
  const kinds = new Set(profile.account.tracks.map((path) => profile.frames[profile.frame[path]].kind));
  const [only] = kinds;
  return kinds.size === 1 && only !== undefined ? only : "track";
}

/** Units of all tracks in so many cycles. */
export function unitsIn(profile: Profile, span: Span): number {
  return (span.to - span.from) * tracksIn(profile);
}

/** What a path is for as a leaf. */
export function useOf(profile: Profile, path: number): Use {
  return profile.uses[profile.useOfPath[path]];
}

/** The use of each track in a cycle, before counters tell its work apart. */
export function usesAt(profile: Profile, cycle: number): number[] {
  const { over, ofTrees } = profile.account;
  const tracks = tracksIn(profile);
  if (over) return over.what.length ? [over.what[segmentAt(over.start, cycle)]] : [];
  const tree = profile.runs.what[segmentAt(profile.runs.start, cycle)];
  return ofTrees && tree !== undefined ? Array.from(ofTrees.subarray(tree * tracks, (tree + 1) * tracks)) : [];
}

/** The account of a span: in every row each track-cycle has exactly one use. */
export function account(profile: Profile, span: Span): Units {
  const { units } = profile.account;
  const uses = profile.uses.length;
  const exact = profile.uses.map(() => true);
  if (span.from === 0 && span.to === profile.cycles) return { of: Float64Array.from(units), exact };
  const of = new Float64Array(units.length);
  const { over, ofTrees } = profile.account;
  if (over) of.set(held(over, uses, span));
  else if (ofTrees) {
    const tracks = tracksIn(profile);
    treeCycles(profile, span).forEach((cycles, tree) => {
      if (!cycles) return;
      for (let track = 0; track < tracks; track++) of[track * uses + ofTrees[tree * tracks + track]] += cycles;
    });
  }
  const work = workOf(profile);
  for (const { series, track, use } of splits(profile)) {
    const { whole, part } = waited(profile, series, track, span.from, span.to);
    const sum = whole + Math.floor(part);
    of[track * uses + work] -= sum;
    of[track * uses + use] += sum;
    if (part) exact[work] = exact[use] = false;
  }
  return { of, exact };
}

/** Units of each use, of all tracks together. */
export function together(profile: Profile, units: Units): Float64Array {
  const uses = profile.uses.length;
  const result = new Float64Array(uses);
  units.of.forEach((count, at) => (result[at % uses] += count));
  return result;
}

/**
 * For each pixel and use the mean number of tracks in a cycle: of all tracks, or of one. They sum
 * to the tracks.
 */
export function band(profile: Profile, span: Span, count: number, only?: number): Float64Array {
  const uses = profile.uses.length;
  const { over, ofTrees } = profile.account;
  const result = new Float64Array(count * uses);
  const step = (span.to - span.from) / count;
  const found = binsOnce(over ?? profile.runs, over ? uses : profile.treeStart.length - 1, span, count);
  const counts = over ? null : trackCounts(profile);
  const tracks = tracksIn(profile);
  for (let pixel = 0; pixel < count; pixel++) {
    for (let i = found.first[pixel]; i < found.first[pixel + 1]; i++) {
      const share = found.cycles[i] / step;
      const what = found.what[i];
      if (!counts) result[pixel * uses + what] += share;
      else if (only !== undefined) result[pixel * uses + ofTrees![what * tracks + only]] += share;
      else for (let use = 0; use < uses; use++) result[pixel * uses + use] += share * counts[what * uses + use];
    }
  }
  const work = workOf(profile);
  for (const { series, track, use } of splits(profile)) {
    if (only !== undefined && track !== only) continue;
    for (let pixel = 0; pixel < count; pixel++) {
      const { whole, part } = waited(profile, series, track, span.from + pixel * step, span.from + (pixel + 1) * step);
      const share = Math.min((whole + part) / step, result[pixel * uses + work]);
      result[pixel * uses + work] -= share;
      result[pixel * uses + use] += share;
    }
  }
  return result;
}

/** Whether counters tell the work of some track apart. */
export function hasSplits(profile: Profile): boolean {
  return splits(profile).length > 0;
}

interface Split {
  series: Series;
  track: number;
  use: number;
}

function splits(profile: Profile): Split[] {
  return profile.series.flatMap((series) =>
    series.split ? [{ series, track: series.split[0], use: series.split[1] }] : [],
  );
}

function workOf(profile: Profile): number {
  return profile.uses.findIndex((use) => use.work);
}

const counted = new WeakMap<Profile, Uint16Array>();

/** How many tracks are at each use in each tree: row by row. */
function trackCounts(profile: Profile): Uint16Array {
  const known = counted.get(profile);
  if (known) return known;
  const uses = profile.uses.length;
  const tracks = tracksIn(profile);
  const { ofTrees } = profile.account;
  const result = new Uint16Array((profile.treeStart.length - 1) * uses);
  ofTrees?.forEach((use, at) => result[Math.floor(at / tracks) * uses + use]++);
  counted.set(profile, result);
  return result;
}

/** The cycles of work of a track up to each moment at which it begins or ends to work. */
interface Work {
  start: Float64Array;
  sum: Float64Array;
}

const worked = new WeakMap<Profile, Work[]>();

/** When a track works, by the trees alone. */
function workOfTrack(profile: Profile, track: number): Work {
  let known = worked.get(profile);
  if (!known) worked.set(profile, (known = []));
  return (known[track] ??= findWork(profile, track));
}

function findWork(profile: Profile, track: number): Work {
  const { over, ofTrees } = profile.account;
  const { start, what } = over ?? profile.runs;
  const tracks = tracksIn(profile);
  const work = workOf(profile);
  const moments: number[] = [0];
  const sums: number[] = [0];
  let sum = 0;
  let before = false;
  for (let run = 0; run < what.length; run++) {
    const now = (over ? what[run] : ofTrees![what[run] * tracks + track]) === work;
    if (now !== before) {
      moments.push(start[run]);
      sums.push(sum);
      before = now;
    }
    if (now) sum += start[run + 1] - start[run];
  }
  moments.push(profile.cycles);
  sums.push(sum);
  return { start: Float64Array.from(moments), sum: Float64Array.from(sums) };
}

/** Cycles of work before a moment. */
function before({ start, sum }: Work, moment: number): number {
  const at = segmentAt(start, moment);
  const next = Math.min(at + 1, sum.length - 1);
  // Between two moments there is work all the time, or none.
  return sum[next] > sum[at] ? sum[at] + Math.min(moment, start[next]) - start[at] : sum[at];
}

const added = new WeakMap<Series, Float64Array>();

/** A series' values added up: of all before each interval. */
function sumsOf(series: Series, { value }: Intervals): Float64Array {
  const known = added.get(series);
  if (known) return known;
  const result = new Float64Array(value.length + 1);
  for (let i = 0; i < value.length; i++) result[i + 1] = result[i] + value[i];
  added.set(series, result);
  return result;
}

/** What a counter of a track's waiting counts from a moment to another: known, and estimated. */
function waited(
  profile: Profile, series: Series, track: number, from: number, to: number,
): { whole: number; part: number } {
  const intervals = series.intervals();
  const { start, end, value } = intervals;
  if (!value.length || end[value.length - 1] <= from || start[0] >= to) return { whole: 0, part: 0 };
  // The first interval that ends after `from`, and the first that begins after `to`.
  const first = firstAbove(end, from);
  const last = firstAbove(start, to);
  let inside = first;
  let until = last;
  let part = 0;
  const work = workOfTrack(profile, track);
  for (const i of new Set([first, last - 1])) {
    if (i < first || i >= last || (start[i] >= from && end[i] <= to)) continue;
    if (i === first) inside++;
    if (i === last - 1) until--;
    const all = before(work, end[i]) - before(work, start[i]);
    const here = before(work, Math.min(end[i], to)) - before(work, Math.max(start[i], from));
    const share = all ? here / all : (Math.min(end[i], to) - Math.max(start[i], from)) / (end[i] - start[i]);
    part += value[i] * share;
  }
  const sums = sumsOf(series, intervals);
  return { whole: until > inside ? sums[until] - sums[inside] : 0, part };
}

/** The first place whose value is greater than a limit. */
function firstAbove(values: Float64Array, limit: number): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] > limit) high = middle;
    else low = middle + 1;
  }
  return low;
}
