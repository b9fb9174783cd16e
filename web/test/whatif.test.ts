import { expect, it } from "vitest";
import type { ActivationGraph } from "../src/data.ts";
import { cyclesWith, definitionOf, lengthsOf, retimed, textOfLengths } from "../src/whatif.ts";
import { random } from "./made.ts";

/** A root goes twice through a phase: the first of three cycles, and four cycles later one of two. */
const GRAPH: ActivationGraph = {
  own: Uint8Array.of(3, 2, 1), least: Uint8Array.of(0, 0, 0), alike: Int8Array.of(-1, -1, -1), key: Uint8Array.of(0, 1, 2),
  phases: Uint8Array.of(0, 0, 1), phase: Uint8Array.of(0), times: Uint8Array.of(2),
  members: Uint8Array.of(2), member: Uint8Array.of(0, 1), lead: Uint8Array.of(0, 4),
};

function withLengths(graph: ActivationGraph, lengths: Record<number, number>): number {
  return retimed(graph, (key) => lengths[key]);
}

it("a phase is as long as what ends last in it, from its begin", () => {
  expect(withLengths(GRAPH, {})).toBe(1 + 2 * 6);
  expect(withLengths(GRAPH, { 1: 0 })).toBe(1 + 2 * 4);
  expect(withLengths(GRAPH, { 0: 6 })).toBe(1 + 2 * 6);
  expect(withLengths(GRAPH, { 0: 7 })).toBe(1 + 2 * 7);
  expect(withLengths(GRAPH, { 0: 10, 1: 9 })).toBe(1 + 2 * 13);
  expect(withLengths(GRAPH, { 2: 5, 0: 10 })).toBe(5);
});

it("what has cycles to spare is never shorter than it is fixed to be", () => {
  const fixed = { ...GRAPH, least: Uint8Array.of(0, 0, 15) };
  expect(withLengths(fixed, {})).toBe(15);
  expect(withLengths(fixed, { 0: 8 })).toBe(1 + 2 * 8);
});

it("a block of fixed length is as long as the longest of its activations", () => {
  const block = { ...GRAPH, alike: Int8Array.of(0, 0, -1), key: Uint8Array.of(0, 0, 2) };
  expect(withLengths(block, {})).toBe(1 + 2 * 7);
  expect(withLengths(block, { 0: 2 })).toBe(1 + 2 * 6);
});

it("lengths in an address come back, and others are left out", () => {
  const key = { frame: 0, instance: "", times: 1, total: 1, critical: 0, slack: 0, saved: 0 };
  const profile = {
    ...random(1),
    critical: { keys: [3, 7].map((definition) => ({ ...key, definition })), path: null, graph: GRAPH, curves: [] },
  };
  const some = new Map([[3, 10], [7, 0]]);
  expect(lengthsOf(textOfLengths(some), profile)).toEqual(some);
  expect([...lengthsOf("4-1,3--2,7-x,,7", profile)]).toEqual([]);
});

it("of curves one change counts, at a value that is there", () => {
  const key = { frame: 0, instance: "", times: 1, total: 1, critical: 0, slack: 0, saved: 0, definition: 3 };
  const curves = [
    { name: "L1", definition: 3, now: 4, values: [1, 4], totals: [70, 100] },
    { name: "threads", definition: 5, now: 2, values: [1, 2, 4], totals: [180, 100, 60] },
  ];
  const profile = { ...random(1), cycles: 100, critical: { keys: [key, { ...key, definition: 4 }], path: null, graph: null, curves } };
  expect(cyclesWith(profile, new Map())).toBe(100);
  expect(cyclesWith(profile, new Map([[5, 4]]))).toBe(60);
  expect(cyclesWith(profile, new Map([[3, 1]]))).toBe(70);
  expect([...lengthsOf("4-1,5-3,5-4,3-1", profile)]).toEqual([[5, 4]]);
  expect([...lengthsOf("4-1,5-3,7-1", profile)]).toEqual([]);
  expect(definitionOf(profile, [key])).toBe(3);
  expect(definitionOf(profile, [{ ...key, definition: 4 }])).toBe(null);
});
