import { describe, expect, it } from "vitest";
import { activeCycles, classCycles, classesAt, hottest, leafWeights, lineCycles, stretchAt, treeCycles, verdict } from "../src/derive.ts";
import { activeIn, dice, frame, made, random } from "./made.ts";

const WORK = ["group", "primitive"];
const SEEDS = [...Array(60).keys()];

describe("what a span of cycles holds, against counting cycle by cycle", () => {
  it.each(SEEDS)("run %i", (seed) => {
    const profile = random(seed);
    const roll = dice(seed + 1000);
    const from = roll(profile.cycles);
    const span = { from, to: from + 1 + roll(profile.cycles - from) };
    const weights = treeCycles(profile, span);
    const sum = (of: Float64Array): number => of.reduce((a, b) => a + b, 0);
    expect(sum(weights)).toBe(span.to - span.from);
    expect(sum(classCycles(profile, span))).toBe(span.to - span.from);

    const active = new Float64Array(profile.parent.length);
    const flat = new Float64Array(profile.parent.length);
    const scaled = new Float64Array(profile.parent.length);
    const line = new Map<number, number>();
    const useful = new Map<number, number>();
    for (let cycle = span.from; cycle < span.to; cycle++) {
      const paths = activeIn(profile, cycle);
      const ends = paths.filter((path) => !paths.some((other) => profile.parent[other] === path));
      for (const path of paths) active[path]++;
      for (const end of ends) {
        flat[end]++;
        scaled[end] += 1 / ends.length;
      }
      for (const number of new Set(paths.map((path) => profile.frames[profile.frame[path]].positions[0].line))) {
        line.set(number, (line.get(number) ?? 0) + 1);
      }
      const works = ends.filter((end) => WORK.includes(profile.frames[profile.frame[end]].kind));
      const busy = new Set<number>();
      for (const end of works) {
        for (let p = end; p >= 0; p = profile.parent[p]) {
          busy.add(profile.frames[profile.frame[p]].positions[0].line);
        }
      }
      for (const number of busy) useful.set(number, (useful.get(number) ?? 0) + 1);
    }
    expect([...activeCycles(profile, weights, [...profile.parent.keys()], profile.parent.length)]).toEqual([...active]);
    expect([...leafWeights(profile, weights, false).own]).toEqual([...flat]);
    const exact = leafWeights(profile, weights, true);
    expect(sum(exact.own)).toBe((span.to - span.from) * exact.unit);
    expect([...exact.own].every(Number.isInteger)).toBe(true);
    exact.own.forEach((weight, path) => expect(weight / exact.unit).toBeCloseTo(scaled[path], 9));
    const lines = lineCycles(profile, weights, "c").get("f.c") ?? [];
    for (const one of lines) {
      expect(one.active).toBe(line.get(one.line) ?? 0);
      expect(one.useful).toBe(useful.get(one.line) ?? 0);
    }
  });
});

it("the hottest places hold what nothing but primitives was below", () => {
  for (const seed of SEEDS) {
    const profile = random(seed);
    const weights = treeCycles(profile, { from: 0, to: profile.cycles });
    for (const hot of hottest(profile, weights, 20)) {
      expect(hot.cycles).toBeGreaterThan(0);
      expect(hot.cycles).toBeLessThanOrEqual(profile.cycles);
      expect(profile.frames[hot.frame].kind).not.toBe("primitive");
    }
  }
});

it("a stretch is found by any cycle in it", () => {
  const start = Float64Array.of(0, 3, 4, 9);
  expect([0, 2, 3, 4, 8, 9, 50].map((cycle) => stretchAt(start, cycle))).toEqual([0, 0, 1, 2, 2, 2, 2]);
});

it("states of threads sum to cycles times threads, in any span", () => {
  const frames = ["region", "thread 0", "thread 1", "running", "spinning"].map((name, i) =>
    frame(name, ["cell", "thread", "thread", "state", "state"][i]),
  );
  // region > thread 0 > running | spinning; region > thread 1 > running | spinning
  const parent = [-1, 0, 0, 1, 1, 2, 2];
  const trees = [[0, 1, 2, 3, 5], [0, 1, 2, 3, 6], [0, 1, 2, 4, 5]];
  const base = made(frames, parent, [0, 1, 2, 3, 4, 3, 4], trees, [[5, 0], [3, 1], [2, 2]]);
  const of = Int32Array.of(-1, -1, -1, 0, 1, 0, 1);
  const profile = { ...base, classes: { names: ["running", "spinning"], per: 2, over: null, of } };
  expect([...classCycles(profile, { from: 0, to: 10 })]).toEqual([15, 5]);
  expect([...classCycles(profile, { from: 4, to: 6 })]).toEqual([3, 1]);
  expect(classesAt(profile, 6)).toEqual([["running", 1], ["spinning", 1]]);
  expect(classesAt(profile, 0)).toEqual([["running", 2]]);
  expect([3, 4, 0].map((path) => verdict(profile, path))).toEqual(["work", "spinning", "overhead"]);
});
