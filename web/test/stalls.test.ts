import { describe, expect, it } from "vitest";
import type { ProgramSite, Series } from "../src/data.ts";
import { stalls, summed } from "../src/derive.ts";
import { dice, random } from "./made.ts";

function series(name: string, bounds: [number, number, number][], site?: ProgramSite): Series {
  const start = Float64Array.from(bounds, ([from]) => from);
  const end = Float64Array.from(bounds, ([, to]) => to);
  const value = Float64Array.from(bounds, ([, , count]) => count);
  const intervals = () => ({ start, end, value });
  return { track: "t", name, metric: "stall", unit: "", path: 0, labels: {}, inexact: false, intervals, waits: 1, cause: "memory", ...(site ? { site } : {}) };
}

describe("where was waited", () => {
  it("adds up over the whole run and counts a cut sample by its share", () => {
    const one = series("a", [[0, 10, 5], [10, 20, 8], [30, 40, 0]]);
    expect(summed(one, { from: 0, to: 100 })).toEqual({ sum: 13, exact: true });
    expect(summed(one, { from: 10, to: 30 })).toEqual({ sum: 8, exact: true });
    expect(summed(one, { from: 15, to: 35 })).toEqual({ sum: 4, exact: false });
    expect(summed(one, { from: 20, to: 35 })).toEqual({ sum: 0, exact: true });
  });

  it("is summed by place, the most first, without what is no waiting", () => {
    const profile = random(1);
    const at = { label: "load of a", level: "c", file: "f.c", line: 7 };
    profile.series = [
      series("memory", [[0, 4, 3]]),
      series("memory", [[0, 4, 4]]),
      series("x", [[0, 4, 9]], at),
      series("y", [[0, 4, 2]], at),
      series("z", [[0, 4, 1]], { ...at, file: "g.c" }),
      series("lock", [[0, 4, 0]]),
      { ...series("bytes", [[0, 4, 99]]), waits: 0 },
    ];
    expect(stalls(profile, { from: 0, to: 9 }).map(({ name, site, cycles }) => [name, site?.file, cycles])).toEqual([
      ["load of a", "f.c", 11],
      ["memory", undefined, 7],
      ["load of a", "g.c", 1],
    ]);
  });

  it("has parts that make up the whole", () => {
    for (let seed = 0; seed < 50; seed++) {
      const roll = dice(seed);
      let now = 0;
      const bounds = Array.from({ length: 1 + roll(8) }, (): [number, number, number] => {
        const from = now + roll(3);
        now = from + 1 + roll(9);
        return [from, now, 60 * roll(5)];
      });
      const one = series("a", bounds);
      const cut = roll(now + 1);
      const left = summed(one, { from: 0, to: cut }).sum;
      const right = summed(one, { from: cut, to: now }).sum;
      const all = summed(one, { from: 0, to: now }).sum;
      expect(Math.abs(left + right - all)).toBeLessThanOrEqual(1);
    }
  });
});
