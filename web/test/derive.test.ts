import { describe, expect, it } from "vitest";
import { activeCycles, hottest, leafWeights, lineCycles, segmentAt, treeCycles } from "../src/derive.ts";
import { activeIn, dice, random, team } from "./made.ts";

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
    const span = { from: 0, to: profile.cycles };
    for (const hot of hottest(profile, weights, span, 20)) {
      const frame = profile.frames[hot.frame];
      expect(profile.uses[hot.use].work).toBe(frame.kind === "group");
      let lost = 0;
      for (let cycle = 0; cycle < profile.cycles; cycle++) {
        const active = activeIn(profile, cycle);
        const above = new Set(active.filter((path) => profile.frames[profile.frame[path]].kind !== "primitive").map((path) => profile.parent[path]));
        const here = hot.paths.some((path) => active.includes(path) && !above.has(path));
        if (here && !profile.uses[profile.account.over!.what[segmentAt(profile.runs.start, cycle)]].work) lost++;
      }
      expect(hot.lost).toBe(lost);
      expect(hot.cycles).toBeGreaterThan(0);
      expect(hot.cycles).toBeLessThanOrEqual(profile.cycles);
      expect(profile.frames[hot.frame].kind).not.toBe("primitive");
    }
  }
});

it("a segment is found by any cycle in it", () => {
  const start = Float64Array.of(0, 3, 4, 9);
  expect([0, 2, 3, 4, 8, 9, 50].map((cycle) => segmentAt(start, cycle))).toEqual([0, 0, 1, 2, 2, 2, 2]);
});

it("lines of a team count each track, against counting cycle by cycle", () => {
  for (const seed of SEEDS) {
    const profile = team(seed);
    const roll = dice(seed);
    const from = roll(profile.cycles);
    const span = { from, to: from + 1 + roll(profile.cycles - from) };
    const active = new Map<number, number>();
    const useful = new Map<number, number>();
    for (let cycle = span.from; cycle < span.to; cycle++) {
      for (const track of profile.account.tracks) {
        const mine = activeIn(profile, cycle).filter((path) => profile.parent[path] === track);
        const works = mine.some((path) => profile.uses[profile.useOfPath[path]].work);
        for (const line of new Set([0, track, ...mine].map((path) => profile.frames[profile.frame[path]].positions[0].line))) {
          active.set(line, (active.get(line) ?? 0) + 1);
          if (works) useful.set(line, (useful.get(line) ?? 0) + 1);
        }
      }
    }
    for (const one of lineCycles(profile, treeCycles(profile, span), "c").get("f.c") ?? []) {
      expect([one.line, one.active, one.useful]).toEqual([one.line, active.get(one.line) ?? 0, useful.get(one.line) ?? 0]);
    }
  }
});
