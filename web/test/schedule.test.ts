import { expect, test } from "vitest";
import type { Graph, Operation, Profile, Series } from "../src/data.ts";
import { hottest, named, placed, spentIn } from "../src/schedule.ts";
import { graphOf } from "../src/reveal.ts";
import { frame, made } from "./made.ts";

function operation(given: Partial<Operation>): Operation {
  return {
    name: "add", text: "", position: null, stage: 0, stages: 0, waits: false, after: [], array: "", unit: "", bits: 32, count: 1,
    graph: -1, series: [], ...given,
  };
}

function graph(given: Partial<Graph>): Graph {
  return {
    frame: -1, function: "k", position: null, stages: 4, interval: 1, apart: 1, serial: [], parent: -1, operations: [], bounds: [],
    ...given,
  };
}

/** Two loops in one, the second beside the first for a while. */
function nest(): Profile {
  const frames = ["run", "outer", "left", "right"].map((name) => frame(name, "loop"));
  const profile = made(frames, [-1, 0, 1, 1], [0, 1, 2, 3], [[0, 1], [0, 1, 2], [0, 1, 2, 3], [0]], [[3, 0], [5, 1], [7, 2], [11, 3]]);
  profile.schedules = [graph({ frame: -1 }), graph({ frame: 1, parent: 0 }), graph({ frame: 2, parent: 1 }), graph({ frame: 3, parent: 1 })];
  return profile;
}

test("a loop has the cycles in which no loop inside it runs", () => {
  const spent = spentIn(nest(), Float64Array.from([3, 5, 7, 11]));
  expect([...spent]).toEqual([0, 3, 12, 7]);
  expect(hottest(spent)).toBe(2);
});

test("operations are in the order of their stages, with what was waited at each", () => {
  const profile = nest();
  const series = { track: "", name: "", metric: "stall", unit: "", path: 0, inexact: false, labels: {},
    intervals: () => ({ start: Float64Array.of(0, 10), end: Float64Array.of(10, 26), value: Uint8Array.of(4, 2) }) } satisfies Series;
  profile.series = [series];
  const one = graph({
    interval: 8,
    operations: [operation({ stage: 3, stages: 7, unit: "fadd32" }), operation({ stage: 2, waits: true, stages: 1, series: [0] }), operation({})],
    bounds: [
      { limit: "recurrence", name: "s", interval: 8, position: null, operations: [0], distance: 1, ports: 0 },
      { limit: "ports", name: "x", interval: 3, position: null, operations: [1], distance: 1, ports: 2 },
    ],
  });
  const rows = placed(profile, one, { from: 0, to: 26 });
  expect(rows.map(({ index, from, to, limits, waited }) => [index, from, to, limits, waited])).toEqual([
    [2, 0, 1, false, 0], [1, 2, 3, false, 6], [0, 3, 10, true, 0],
  ]);
  expect(placed(profile, one, { from: 0, to: 10 })[1]!.waited).toBe(4);
});

test("an operation is told by its unit, its memory or its loop", () => {
  expect(named(operation({ name: "fadd", unit: "fadd32", count: 16 }))).toBe("16 × fadd32");
  expect(named(operation({ name: "load", array: "A" }))).toBe("load A");
  expect(named(operation({ name: "loop", array: "L14" }))).toBe("loop L14");
});

test("what is highlighted has a schedule: its loop's, or one with an operation of its line", () => {
  const profile = nest();
  const position = { level: "c", file: "f.c", line: 7 };
  profile.schedules[3]!.operations = [operation({ position })];
  const none = { label: "", paths: new Set<number>(), line: null };
  expect(graphOf(profile, { ...none, paths: new Set([2]) }, -1)).toBe(2);
  expect(graphOf(profile, { ...none, line: position }, 1)).toBe(3);
  expect(graphOf(profile, { ...none, line: { ...position, line: 8 } }, 1)).toBe(-1);
});
