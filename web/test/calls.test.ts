import { expect, it } from "vitest";
import { callsOf } from "../src/calls.ts";
import { treeCycles } from "../src/derive.ts";
import { activeIn, random } from "./made.ts";

it.each([...Array(30).keys()])("callers and callees are those of every cycle (seed %i)", (seed) => {
  const profile = random(seed);
  const weights = treeCycles(profile, { from: 0, to: profile.cycles });
  for (let path = 0; path < profile.parent.length; path++) {
    const { callers, callees, active, alone } = callsOf(profile, weights, new Set([path]));
    const below = new Map<number, number>();
    let [here, nothing] = [0, 0];
    for (let cycle = 0; cycle < profile.cycles; cycle++) {
      const now = activeIn(profile, cycle);
      if (!now.includes(path)) continue;
      here++;
      const called = now.filter((other) => profile.parent[other] === path);
      if (!called.length) nothing++;
      for (const frame of new Set(called.map((other) => profile.frame[other]!))) below.set(frame, (below.get(frame) ?? 0) + 1);
    }
    expect([active, alone]).toEqual([here, nothing]);
    expect(callers.reduce((sum, call) => sum + call.cycles, 0)).toBe(profile.parent[path]! < 0 ? 0 : here);
    expect(new Map(callees.map((call) => [call.frame, call.cycles]))).toEqual(below);
  }
});
