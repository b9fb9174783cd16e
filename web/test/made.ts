/** Profiles made for tests: small random ones, in the form in which the page holds them. */

import type { Frame, Profile } from "../src/data.ts";

/** A generator of numbers below `limit` that gives the same ones each time. */
export function dice(seed: number): (limit: number) => number {
  let state = (seed + 1) >>> 0;
  return (limit) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

const KINDS = ["control", "group", "primitive"];

export function frame(name: string, kind = "group", generated = false): Frame {
  return { kind, name, detail: "", positions: [{ level: "c", file: "f.c", line: name.length }], latency: null, generated };
}

/** A profile from the trees' paths and the runs. */
export function made(
  frames: Frame[], parent: number[], frameOf: number[], trees: number[][], runs: [number, number][],
): Profile {
  const sums = (lengths: number[]): Float64Array => {
    const result = new Float64Array(lengths.length + 1);
    lengths.forEach((length, i) => (result[i + 1] = result[i] + length));
    return result;
  };
  const start = sums(runs.map(([cycles]) => cycles));
  return {
    name: "made", title: "made", source: "calyx", cycles: start[runs.length], complete: true, stopReason: "",
    periodPs: null, tools: [], inputs: [], options: [], anomalies: [], levels: ["c"], frames, instances: ["main"],
    parent: Int32Array.from(parent), frame: Uint16Array.from(frameOf), instance: new Uint8Array(parent.length),
    order: Uint16Array.from(parent.keys()),
    treeStart: sums(trees.map((tree) => tree.length)), treePath: Uint16Array.from(trees.flat()),
    runs: { start, what: Uint16Array.from(runs, ([, tree]) => tree) },
    classes: {
      names: ["useful", "other"], per: 1, of: null,
      over: { start, what: Uint8Array.from(runs, ([, tree]) => tree % 2) },
    },
    rows: [], tables: {}, series: [], ladder: [], advice: [], sources: [],
  };
}

/** A random one: a trie of paths, trees closed under callers, runs. */
export function random(seed: number): Profile {
  const roll = dice(seed);
  const frames = [frame("main", "cell")];
  for (let i = 1; i < 9; i++) frames.push(frame("f".repeat(i), KINDS[roll(3)], roll(4) === 0));
  const parent = [-1];
  const frameOf = [0];
  for (let i = 1; i < 14; i++) {
    const above = roll(parent.length);
    const used = new Set(parent.flatMap((p, path) => (p === above ? [frameOf[path]] : [])));
    const which = 1 + roll(8);
    if (used.has(which)) continue;
    parent.push(above);
    frameOf.push(which);
  }
  const trees = Array.from({ length: 1 + roll(6) }, () => {
    const active = new Set([0]);
    for (let n = roll(4); n > 0; n--) {
      for (let path = roll(parent.length); path >= 0; path = parent[path]) active.add(path);
    }
    return [...active].sort((a, b) => a - b);
  });
  const runs = Array.from({ length: 1 + roll(40) }, (): [number, number] => [1 + roll(5), roll(trees.length)]);
  return made(frames, parent, frameOf, trees, runs);
}

/** The paths active in a cycle. */
export function activeIn(profile: Profile, cycle: number): number[] {
  const run = profile.runs.what.findIndex((_, i) => profile.runs.start[i + 1] > cycle);
  const tree = profile.runs.what[run];
  return [...profile.treePath.slice(profile.treeStart[tree], profile.treeStart[tree + 1])];
}
