/** Profiles made for tests: small random ones, in the form that the page has them in. */

import { type Frame, type Profile, type Series, type Use, tracksOf } from "../src/data.ts";

/** A generator of numbers below `limit` that gives the same ones each time. */
export function dice(seed: number): (limit: number) => number {
  let state = (seed + 1) >>> 0;
  return (limit) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

const KINDS = ["control", "group", "primitive"];
const WORKING = ["group", "primitive"];

export function use(label: string): Use {
  return { label, name: label, about: "", work: label === "work", hot: true, rank: [0, 0], colour: "#123456", onDark: "#123456", whiteInk: false };
}

export function frame(name: string, kind = "group", generated = false): Frame {
  return { kind, name, detail: "", positions: [{ level: "c", file: "f.c", line: name.length }], latency: null, generated, track: false, declares: true };
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
  const useOfPath = Uint8Array.from(frameOf, (at) => (WORKING.includes(frames[at].kind) ? 0 : 1));
  const ends = (tree: number[]): number[] => tree.filter((path) => !tree.some((other) => parent[other] === path));
  const useOfTree = trees.map((tree) => Math.min(1, ...ends(tree).map((path) => useOfPath[path])));
  const over = { start, what: Uint8Array.from(runs, ([, tree]) => useOfTree[tree]) };
  const units = new Float64Array(2);
  over.what.forEach((which, run) => (units[which] += start[run + 1] - start[run]));
  return {
    name: "made", title: "made", source: "calyx", cycles: start[runs.length], complete: true, stopReason: "",
    periodPs: null, clock: null, tools: [], inputs: [], options: [], anomalies: [], levels: ["c"], frames, instances: ["main"],
    parent: Int32Array.from(parent), frame: Uint16Array.from(frameOf), instance: new Uint8Array(parent.length),
    order: Uint16Array.from(parent.keys()),
    treeStart: sums(trees.map((tree) => tree.length)), treePath: Uint16Array.from(trees.flat()),
    runs: { start, what: Uint16Array.from(runs, ([, tree]) => tree) },
    uses: [use("work"), use("control: other")],
    account: { unit: "cycles", tracks: [], units, over, ofTrees: null },
    useOfPath, trackOf: tracksOf(Int32Array.from(parent), []), stacks: null, team: false,
    rows: [], tables: {}, series: [], ladder: [], otherBounds: [], network: null, schedules: [], critical: null, advice: [], sources: [],
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

const STATES = ["idle", "running", "spinning"];
const USES = ["work", "waiting: memory", "waiting: odd", "waiting: lock", "idle"];
const OF_STATE = [4, 0, 3];

/** Cycles between two samples of a team's counters. */
export const SAMPLE = 10;

/**
 * A random team: each track in a state in every cycle; two counters tell its work apart, by samples,
 * of which the last may be short.
 */
export function team(seed: number): Profile {
  const roll = dice(seed);
  const tracks = 1 + (seed % 4);
  const frames = [frame("region", "cell"), ...STATES.map((name) => frame(name, "state"))];
  const parent = [-1];
  const frameOf = [0];
  for (let track = 0; track < tracks; track++) {
    frames.push({ ...frame(`warp ${track}`, "warp"), track: true });
    parent.push(0);
    frameOf.push(frames.length - 1);
  }
  for (let track = 0; track < tracks; track++) {
    for (let state = 0; state < 3; state++) {
      parent.push(1 + track);
      frameOf.push(1 + state);
    }
  }
  const states = Array.from({ length: 1 + roll(6) }, () => Array.from({ length: tracks }, () => roll(3)));
  const trees = states.map((row) => [0, ...row.map((_, t) => 1 + t), ...row.map((state, t) => 1 + tracks + 3 * t + state)]);
  const runs = Array.from({ length: 1 + roll(30) }, (): [number, number] => [1 + roll(9), roll(trees.length)]);
  const profile = made(frames, parent, frameOf, trees, runs);
  const { cycles } = profile;
  const stateAt = (cycle: number, track: number): number =>
    states[profile.runs.what[profile.runs.start.findIndex((_, i) => profile.runs.start[i + 1] > cycle)]][track];
  const units = new Float64Array(tracks * USES.length);
  const series: Series[] = [];
  for (let track = 0; track < tracks; track++) {
    const bounds = Array.from({ length: Math.ceil(cycles / SAMPLE) }, (_, i) => i * SAMPLE);
    const end = bounds.map((from) => Math.min(from + SAMPLE, cycles));
    const work = bounds.map((from, i) => {
      let sum = 0;
      for (let cycle = from; cycle < end[i]; cycle++) {
        const state = stateAt(cycle, track);
        units[track * USES.length + OF_STATE[state]]++;
        if (state === 1) sum++;
      }
      return sum;
    });
    const memory = work.map((most) => roll(most + 1));
    const odd = work.map((most, i) => roll(most - memory[i] + 1));
    [memory, odd].forEach((value, which) => {
      const sum = value.reduce((a, b) => a + b, 0);
      units[track * USES.length] -= sum;
      units[track * USES.length + 1 + which] += sum;
      const intervals = () => ({ start: Float64Array.from(bounds), end: Float64Array.from(end), value: Float64Array.from(value) });
      series.push({
        track: `warp ${track}`, name: USES[1 + which], metric: "stall", unit: "", path: 1 + track, labels: {}, inexact: false,
        split: [track, 1 + which], intervals,
      });
    });
  }
  const paths = Array.from({ length: tracks }, (_, t) => 1 + t);
  return {
    ...profile,
    uses: USES.map(use),
    account: { unit: "warp-cycles", tracks: paths, units, over: null, ofTrees: Uint8Array.from(states.flat(), (state) => OF_STATE[state]) },
    useOfPath: Uint8Array.from(parent, (_, path) => (path <= tracks ? 4 : OF_STATE[(path - 1 - tracks) % 3])),
    trackOf: tracksOf(Int32Array.from(parent), paths),
    team: true,
    series,
  };
}
