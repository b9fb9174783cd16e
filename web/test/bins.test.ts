import { expect, it } from "vitest";
import { Summed, bins, coverage, slices } from "../src/bins.ts";
import { treeCycles } from "../src/derive.ts";
import { activeIn, dice, random } from "./made.ts";

it("no cycle is lost on the way to pixels, at any zoom", () => {
  for (let seed = 0; seed < 80; seed++) {
    const profile = random(seed);
    const roll = dice(seed);
    const trees = profile.treeStart.length - 1;
    const from = roll(profile.cycles);
    const span = { from, to: from + 1 + roll(profile.cycles - from) };
    for (const count of [1, 7, 64, 1000]) {
      const found = bins(profile.runs, trees, span, count);
      const sum = new Float64Array(trees);
      for (let i = 0; i < found.first[count]; i++) sum[found.what[i]] += found.cycles[i];
      treeCycles(profile, span).forEach((cycles, tree) => expect(sum[tree]).toBeCloseTo(cycles, 6));
    }
  }
});

it("a pixel of one cycle shows what is active in it, and slices say the same", () => {
  for (let seed = 0; seed < 40; seed++) {
    const profile = random(seed);
    const paths = profile.parent.length;
    const own = Int32Array.from({ length: paths }, (_, path) => path); // each path a slot
    const span = { from: 0, to: profile.cycles };
    const found = bins(profile.runs, profile.treeStart.length - 1, span, profile.cycles);
    const { busy, pointed } = coverage(profile, found, profile.cycles, own, paths, new Set([0]));
    const drawn = slices(profile, span, own, paths);
    for (let cycle = 0; cycle < profile.cycles; cycle++) {
      const active = new Set(activeIn(profile, cycle));
      for (let path = 0; path < paths; path++) {
        expect(busy[path * profile.cycles + cycle]).toBeCloseTo(active.has(path) ? 1 : 0, 5);
        const inSlice = drawn.some((slice) => slice.path === path && slice.from <= cycle && cycle < slice.to);
        expect(inSlice).toBe(active.has(path));
      }
      expect(pointed![cycle]).toBeCloseTo(1, 5);
    }
  }
});

it("a counter's pixels hold its mean and its extremes", () => {
  const roll = dice(3);
  const start: number[] = [];
  const end: number[] = [];
  const value: number[] = [];
  for (let now = 0, i = 0; i < 700; i++) {
    start.push((now += roll(3)));
    end.push((now += 1 + roll(4)));
    value.push(roll(50) - 20);
  }
  const intervals = { start: Float64Array.from(start), end: Float64Array.from(end), value: Float64Array.from(value) };
  const summed = new Summed(intervals);
  expect(summed.least).toBe(Math.min(...value));
  expect(summed.greatest).toBe(Math.max(...value));
  const last = end[end.length - 1];
  const at = (cycle: number): number | null => {
    const i = start.findIndex((from, n) => from <= cycle && cycle < end[n]);
    return i < 0 ? null : value[i];
  };
  for (const count of [1, 5, 40]) {
    const span = { from: 0, to: Math.floor(last / count) * count };
    const curve = summed.curve(span, count);
    const step = span.to / count;
    for (let pixel = 0; pixel < count; pixel++) {
      const held: number[] = [];
      for (let cycle = pixel * step; cycle < (pixel + 1) * step; cycle++) {
        const now = at(cycle);
        if (now !== null) held.push(now);
      }
      expect(curve.low[pixel]).toBe(Math.min(...held));
      expect(curve.high[pixel]).toBe(Math.max(...held));
      expect(curve.mean[pixel]).toBeCloseTo(held.reduce((a, b) => a + b, 0) / held.length, 9);
    }
  }
  expect(new Summed({ start: new Float64Array(), end: new Float64Array(), value: new Float64Array() }).curve({ from: 0, to: 5 }, 2).mean).toEqual(Float64Array.of(NaN, NaN));
});
