import { describe, expect, it } from "vitest";
import { type Units, account, band, together, tracksIn, usesAt } from "../src/account.ts";
import type { Profile } from "../src/data.ts";
import type { Span } from "../src/derive.ts";
import { SAMPLE, dice, random, team } from "./made.ts";

const SEEDS = [...Array(60).keys()];

function rows(profile: Profile, units: Units): number[][] {
  const width = profile.uses.length;
  return Array.from({ length: tracksIn(profile) }, (_, track) => [...units.of.subarray(track * width, (track + 1) * width)]);
}

function sum(values: Iterable<number>): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}

/** Cut at some of the moments at which samples end. */
function parts(profile: Profile, seed: number): Span[] {
  const roll = dice(seed + 7);
  const cuts = [0];
  for (let at = SAMPLE; at < profile.cycles; at += SAMPLE) if (roll(2)) cuts.push(at);
  cuts.push(profile.cycles);
  return cuts.slice(1).map((to, i) => ({ from: cuts[i]!, to }));
}

describe("the account of tracks whose work counters tell apart", () => {
  it("of parts that end where samples do adds up to that of the whole, exactly", () => {
    for (const seed of SEEDS) {
      const profile = team(seed);
      const all = new Float64Array(profile.account.units.length);
      for (const span of parts(profile, seed)) {
        const { of, exact } = account(profile, span);
        expect(exact).not.toContain(false);
        of.forEach((count, at) => (all[at]! += count));
      }
      expect([...all]).toEqual([...profile.account.units]);
      expect([...account(profile, { from: 0, to: profile.cycles }).of]).toEqual([...profile.account.units]);
    }
  });

  it("of any span gives every cycle of each track one use, and never less than none", () => {
    let cut = 0;
    for (const seed of SEEDS) {
      const profile = team(seed);
      const roll = dice(seed + 3);
      for (let n = 0; n < 10; n++) {
        const from = roll(profile.cycles);
        const span = { from, to: from + 1 + roll(profile.cycles - from) };
        const units = account(profile, span);
        for (const row of rows(profile, units)) {
          expect(sum(row)).toBe(span.to - span.from);
          expect(row.every((count) => Number.isInteger(count) && count >= 0)).toBe(true);
        }
        expect(sum(together(profile, units))).toBe((span.to - span.from) * tracksIn(profile));
        if (units.exact.includes(false)) cut++;
      }
    }
    expect(cut).toBeGreaterThan(100);
  });

  it("of a part of a sample counts by the part of the work that is inside", () => {
    for (const seed of SEEDS) {
      const profile = team(seed);
      const { uses } = profile;
      const works = (cycle: number, track: number): boolean => uses[usesAt(profile, cycle)[track]!]!.work;
      const shares = band(profile, { from: 0, to: profile.cycles }, profile.cycles);
      for (let cycle = 0; cycle < profile.cycles; cycle++) {
        const expected = new Float64Array(uses.length);
        usesAt(profile, cycle).forEach((use, track) => {
          expected[use]!++;
          if (!uses[use]!.work) return;
          const from = Math.floor(cycle / SAMPLE) * SAMPLE;
          let work = 0;
          for (let c = from; c < Math.min(from + SAMPLE, profile.cycles); c++) if (works(c, track)) work++;
          for (const series of profile.series) {
            if (series.split![0] !== track) continue;
            const part = Number(series.intervals().value[from / SAMPLE]) / work;
            expected[use]! -= part;
            expected[series.split![1]]! += part;
          }
        });
        expected.forEach((share, use) => expect(shares[cycle * uses.length + use]).toBeCloseTo(share, 9));
      }
    }
  });
});

describe("the band over time", () => {
  it.each(SEEDS)("holds the account at any zoom, run %i", (seed) => {
    for (const profile of [team(seed), random(seed)]) {
      const width = profile.uses.length;
      const span = { from: 0, to: profile.cycles };
      for (const count of [1, 3, 50]) {
        const step = profile.cycles / count;
        const shares = band(profile, span, count);
        const totals = new Float64Array(width);
        for (let pixel = 0; pixel < count; pixel++) {
          const one = shares.subarray(pixel * width, (pixel + 1) * width);
          expect(sum(one)).toBeCloseTo(tracksIn(profile), 9);
          one.forEach((share, use) => (totals[use]! += share * step));
        }
        const expected = together(profile, account(profile, span));
        totals.forEach((total, use) => expect(total).toBeCloseTo(expected[use]!, 6));
        const apart = new Float64Array(shares.length);
        for (let track = 0; track < tracksIn(profile); track++) {
          const only = profile.account.tracks.length ? track : undefined;
          band(profile, span, count, only).forEach((share, at) => (apart[at]! += share));
        }
        apart.forEach((share, at) => expect(share).toBeCloseTo(shares[at]!, 9));
      }
    }
  });

  it("of a single root says in each cycle the one use that the cycle has", () => {
    for (const seed of SEEDS) {
      const profile = random(seed);
      const shares = band(profile, { from: 0, to: profile.cycles }, profile.cycles);
      for (let cycle = 0; cycle < profile.cycles; cycle++) {
        const [use] = usesAt(profile, cycle);
        expect(shares[cycle * profile.uses.length + use!]).toBeCloseTo(1, 9);
        expect(account(profile, { from: cycle, to: cycle + 1 }).of[use!]).toBe(1);
      }
    }
  });
});
