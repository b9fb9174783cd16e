/**
 * How a run of a million cycles gets onto a thousand pixels: exactly, in one sweep over the runs
 * that are in view. For each pixel it is known how many cycles each tree held there; from that,
 * how busy each lane was. Nothing is sampled.
 */

import type { Intervals, Profile, Segments } from "./data.ts";
import { type Span, segmentAt } from "./derive.ts";

/** Sparse counts: pixel i has `what[first[i]]` up to `what[first[i + 1]]`. */
export interface Bins {
  first: Int32Array;
  what: Int32Array;
  cycles: Float64Array;
}

/** Which numbers hold for how many cycles (parts of cycles too) in each of `count` equal parts. */
export function bins(segments: Segments, numbers: number, span: Span, count: number): Bins {
  const { start, what } = segments;
  const first = new Int32Array(count + 1);
  let room = count * 8;
  let which = new Int32Array(room);
  let cycles = new Float64Array(room);
  const sum = new Float64Array(numbers);
  const touched = new Int32Array(numbers);
  const step = (span.to - span.from) / count;
  let used = 0;
  let run = segmentAt(start, span.from);
  let end = what.length ? start[run + 1] : Infinity;
  for (let bin = 0; bin < count && run < what.length; bin++) {
    const to = span.from + (bin + 1) * step;
    let now = Math.max(span.from + bin * step, start[run]);
    let touches = 0;
    for (;;) {
      const until = end < to ? end : to;
      if (until > now) {
        const number = what[run];
        if (sum[number] === 0) touched[touches++] = number;
        sum[number] += until - now;
        now = until;
      }
      if (end > to || ++run >= what.length) break;
      end = start[run + 1];
    }
    if (used + touches > room) {
      room = 2 * (used + touches);
      const moreWhich = new Int32Array(room);
      moreWhich.set(which);
      which = moreWhich;
      const moreCycles = new Float64Array(room);
      moreCycles.set(cycles);
      cycles = moreCycles;
    }
    for (let i = 0; i < touches; i++) {
      const number = touched[i];
      which[used] = number;
      cycles[used++] = sum[number];
      sum[number] = 0;
    }
    first[bin + 1] = used;
  }
  for (let bin = 1; bin <= count; bin++) first[bin] = Math.max(first[bin], first[bin - 1]);
  return { first, what: which, cycles };
}

let last: { segments: Segments; span: Span; count: number; found: Bins } | null = null;

/** As `bins`, which several drawings of one picture ask for alike. */
export function binsOnce(segments: Segments, numbers: number, span: Span, count: number): Bins {
  const same = last && last.segments === segments && last.count === count
    && last.span.from === span.from && last.span.to === span.to;
  if (!same) last = { segments, span, count, found: bins(segments, numbers, span, count) };
  return last!.found;
}

/**
 * How busy slots were: share of each pixel's cycles, `busy[slot * count + pixel]`, for the paths
 * that have a slot (`slots[path]`, -1 for none); and the same for the paths that are highlighted.
 */
export function coverage(
  profile: Profile,
  found: Bins,
  count: number,
  slots: Int32Array,
  slotCount: number,
  focus: ReadonlySet<number> | null,
): { busy: Float32Array; pointed: Float32Array | null } {
  const busy = new Float32Array(slotCount * count);
  const pointed = focus ? new Float32Array(slotCount * count) : null;
  const isPointed = new Uint8Array(profile.parent.length);
  focus?.forEach((path) => (isPointed[path] = 1));
  // Of each tree only what is on a lane that is seen: worked out once, looked at for each pixel.
  const { treeStart, treePath } = profile;
  const seenFirst = new Int32Array(treeStart.length);
  const seenSlot = new Int32Array(treePath.length);
  const seenPath = new Int32Array(treePath.length);
  for (let tree = 0, used = 0; tree + 1 < treeStart.length; tree++) {
    for (let at = treeStart[tree]; at < treeStart[tree + 1]; at++) {
      const slot = slots[treePath[at]];
      if (slot < 0) continue;
      seenSlot[used] = slot;
      seenPath[used++] = treePath[at];
    }
    seenFirst[tree + 1] = used;
  }
  for (let pixel = 0; pixel < count; pixel++) {
    let whole = 0;
    for (let i = found.first[pixel]; i < found.first[pixel + 1]; i++) whole += found.cycles[i];
    if (!whole) continue;
    for (let i = found.first[pixel]; i < found.first[pixel + 1]; i++) {
      const share = found.cycles[i] / whole;
      const tree = found.what[i];
      for (let at = seenFirst[tree]; at < seenFirst[tree + 1]; at++) {
        busy[seenSlot[at] * count + pixel] += share;
        if (pointed && isPointed[seenPath[at]]) pointed[seenSlot[at] * count + pixel] += share;
      }
    }
  }
  return { busy, pointed };
}

/** An activation to draw: as long as nothing changes on its lane. */
export interface Slice {
  slot: number;
  path: number;
  from: number;
  to: number;
}

/** The activations in a span, for few runs. */
export function slices(
  profile: Profile, span: Span, slots: Int32Array, slotCount: number,
): Slice[] {
  const result: Slice[] = [];
  const open = new Array<Slice | null>(slotCount).fill(null);
  const { start, what } = profile.runs;
  for (let run = segmentAt(start, span.from); run < what.length && start[run] < span.to; run++) {
    const tree = what[run];
    for (let at = profile.treeStart[tree]; at < profile.treeStart[tree + 1]; at++) {
      const path = profile.treePath[at];
      const slot = slots[path];
      if (slot < 0) continue;
      const now = open[slot];
      if (now && now.path === path && now.to === start[run]) now.to = start[run + 1];
      else result.push((open[slot] = { slot, path, from: start[run], to: start[run + 1] }));
    }
  }
  return result;
}

/** A counter over pixels: mean, least and greatest value in each; NaN where it has none. */
export interface Curve {
  mean: Float64Array;
  low: Float64Array;
  high: Float64Array;
}

const BLOCK = 64;

/** Sums and extremes of blocks of intervals, so that a pixel with many costs no more than one. */
export class Summed {
  readonly intervals: Intervals;
  readonly least: number;
  readonly greatest: number;
  private readonly area: Float64Array;
  private readonly covered: Float64Array;
  private readonly low: Float64Array;
  private readonly high: Float64Array;

  constructor(intervals: Intervals) {
    this.intervals = intervals;
    const { start, end, value } = intervals;
    const blocks = Math.ceil(value.length / BLOCK);
    this.area = new Float64Array(value.length + 1);
    this.covered = new Float64Array(value.length + 1);
    this.low = new Float64Array(blocks).fill(Infinity);
    this.high = new Float64Array(blocks).fill(-Infinity);
    for (let i = 0; i < value.length; i++) {
      const length = end[i] - start[i];
      this.area[i + 1] = this.area[i] + length * value[i];
      this.covered[i + 1] = this.covered[i] + length;
      const block = Math.floor(i / BLOCK);
      if (value[i] < this.low[block]) this.low[block] = value[i];
      if (value[i] > this.high[block]) this.high[block] = value[i];
    }
    this.least = this.low.reduce((a, b) => Math.min(a, b), 0);
    this.greatest = this.high.reduce((a, b) => Math.max(a, b), 0);
  }

  /** The interval that contains a cycle, or the last one before it; -1 for none. */
  at(cycle: number): number {
    const { start } = this.intervals;
    if (!start.length || start[0] > cycle) return -1;
    let low = 0;
    let high = start.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (start[middle] <= cycle) low = middle;
      else high = middle;
    }
    return low;
  }

  curve(span: Span, count: number): Curve {
    const mean = new Float64Array(count).fill(NaN);
    const low = new Float64Array(count).fill(NaN);
    const high = new Float64Array(count).fill(NaN);
    const step = (span.to - span.from) / count;
    const { start, end, value } = this.intervals;
    for (let pixel = 0; pixel < count; pixel++) {
      const from = span.from + pixel * step;
      const to = from + step;
      let first = this.at(from);
      if (first < 0 || end[first] <= from) first++;
      const last = this.at(to) - (start[this.at(to)] === to ? 1 : 0);
      if (first > last) continue;
      let area = this.area[last + 1] - this.area[first];
      let covered = this.covered[last + 1] - this.covered[first];
      const before = Math.max(0, from - start[first]);
      const after = Math.max(0, end[last] - to);
      area -= before * value[first] + after * value[last];
      covered -= before + after;
      mean[pixel] = area / covered;
      [low[pixel], high[pixel]] = this.extremes(first, last);
    }
    return { mean, low, high };
  }

  private extremes(first: number, last: number): [number, number] {
    const { value } = this.intervals;
    let low = Infinity;
    let high = -Infinity;
    for (let i = first; i <= last; ) {
      if (i % BLOCK === 0 && i + BLOCK <= last) {
        low = Math.min(low, this.low[i / BLOCK]);
        high = Math.max(high, this.high[i / BLOCK]);
        i += BLOCK;
      } else {
        low = Math.min(low, value[i]);
        high = Math.max(high, value[i]);
        i++;
      }
    }
    return [low, high];
  }
}
