import { describe, expect, it } from "vitest";
import { treeCycles } from "../src/derive.ts";
import { type Node, flame, heights, layOut, search } from "../src/flame.ts";
import { frame, made, random } from "./made.ts";

const WAYS = [false, true].flatMap((scaled) =>
  [false, true].flatMap((hideGenerated) => [false, true].map((bottomUp) => ({ scaled, hideGenerated, bottomUp }))),
);

describe.each(WAYS)("%o", (options) => {
  it("adds up, box by box", () => {
    for (let seed = 0; seed < 60; seed++) {
      const profile = random(seed);
      const graph = flame(profile, treeCycles(profile, { from: 0, to: profile.cycles }), options);
      const check = (node: Node): void => {
        const below = node.children.reduce((sum, child) => sum + child.total, 0);
        expect(node.total).toBe(node.own + below);
        for (const child of node.children) {
          expect(child.parent).toBe(node);
          expect(child.depth).toBe(node.depth + 1);
          check(child);
        }
      };
      check(graph.root);
      if (options.scaled) expect(graph.root.total).toBe(profile.cycles * graph.unit);
      else expect(graph.root.total).toBeGreaterThanOrEqual(profile.cycles);
      if (options.hideGenerated) {
        expect(graph.nodes.every((node) => node.frame < 0 || !profile.frames[node.frame].generated)).toBe(true);
      }
    }
  });

  it("boxes of a layout stand on their callers and inside them", () => {
    for (let seed = 0; seed < 40; seed++) {
      const profile = random(seed);
      const graph = flame(profile, treeCycles(profile, { from: 0, to: profile.cycles }), options);
      for (const zoomed of [graph.root, ...graph.nodes]) {
        if (zoomed !== graph.root && !zoomed.total) continue;
        const boxes = new Map(layOut(graph, zoomed, 0).boxes.map((box) => [box.node, box]));
        for (const box of boxes.values()) {
          const below = box.node.parent && boxes.get(box.node.parent);
          if (box.above || !below || below.above) continue;
          expect(box.left).toBeGreaterThanOrEqual(below.left - 1e-9);
          expect(box.left + box.width).toBeLessThanOrEqual(below.left + below.width + 1e-9);
        }
        expect(boxes.get(zoomed)!.width).toBe(1);
      }
    }
  });
});

it("what a compiler made is skipped, and what it called stands on its caller", () => {
  const frames = [frame("main", "cell"), frame("made", "group", true), frame("mine")];
  const profile = made(frames, [-1, 0, 1], [0, 1, 2], [[0, 1, 2], [0, 1]], [[5, 0], [3, 1]]);
  const graph = flame(profile, treeCycles(profile, { from: 0, to: 8 }), { scaled: true, hideGenerated: true, bottomUp: false });
  expect(graph.root.children.map((node) => [profile.frames[node.frame].name, node.total, node.active])).toEqual([["mine", 5, 5]]);
  expect(graph.root.own).toBe(3);
});

it("upside down, what is called from several places is one box with its callers on it", () => {
  const frames = [frame("main", "cell"), frame("a"), frame("b"), frame("shared")];
  const profile = made(frames, [-1, 0, 0, 1, 2], [0, 1, 2, 3, 3], [[0, 1, 3], [0, 2, 4]], [[5, 0], [3, 1]]);
  const graph = flame(profile, treeCycles(profile, { from: 0, to: 8 }), { scaled: true, hideGenerated: false, bottomUp: true });
  expect(graph.root.frame).toBe(3);
  expect(graph.root.total).toBe(8);
  expect(graph.root.children.map((node) => [node.frame, node.total])).toEqual([[1, 5], [2, 3]]);
});

it("a search counts what is inside a hit once", () => {
  const frames = [frame("main", "cell"), frame("xa"), frame("xb")];
  const profile = made(frames, [-1, 0, 1], [0, 1, 2], [[0, 1, 2], [0]], [[5, 0], [3, 1]]);
  const graph = flame(profile, treeCycles(profile, { from: 0, to: 8 }), { scaled: true, hideGenerated: false, bottomUp: false });
  const { found, weight } = search(graph, (node) => profile.frames[node.frame].name.startsWith("x"));
  expect(found.size).toBe(2);
  expect(weight).toBe(5);
});

it("a deep graph is as low as its window", () => {
  expect(heights(10, 3, 400)).toEqual({ caller: 19, row: 19 });
  for (const [rows, callers] of [[120, 0], [120, 60], [300, 299], [25, 24]] as const) {
    const { caller, row } = heights(rows, callers, 400);
    expect(callers * caller + (rows - callers) * row).toBeLessThanOrEqual(400.001);
    expect(row).toBeGreaterThanOrEqual(caller - 1e-9);
  }
});
