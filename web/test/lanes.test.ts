import { expect, it } from "vitest";
import type { Profile } from "../src/data.ts";
import { arrange, firstOpen, shownLines } from "../src/lanes.ts";
import { frame, made, team } from "./made.ts";

/** main calls a seq with two groups, the seq calls a cell with a group of its own. */
function nested(): Profile {
  const frames = [
    frame("main", "cell"), frame("seq L1", "control"), frame("if L2", "control"), frame("work"),
    frame("q [queue]", "cell"), frame("inside"),
  ];
  const parent = [-1, 0, 1, 2, 3, 4];
  const profile = made(frames, parent, [0, 1, 2, 3, 4, 5], [[0, 1, 2, 3, 4, 5]], [[4, 0]]);
  return {
    ...profile,
    instances: ["main", "main.q"],
    instance: Uint8Array.of(0, 0, 0, 0, 1, 1),
    rows: [
      { instance: 0, kind: "cell", lane: 0, extra: 0, paths: [0] },
      { instance: 0, kind: "control", lane: 0, extra: 0, paths: [1, 2] },
      { instance: 0, kind: "group", lane: 0, extra: 0, paths: [3] },
      { instance: 1, kind: "cell", lane: 0, extra: 0, paths: [4] },
      { instance: 1, kind: "group", lane: 0, extra: 0, paths: [5] },
    ],
  };
}

it("every path has a lane; what nests has lanes of its own", () => {
  const arranged = arrange(nested());
  expect([...arranged.of]).toEqual([0, 1, 2, 3, 4, 5]);
  expect(arranged.groups.map((group) => group.label)).toEqual(["main"]);
  expect(arranged.groups[0].groups.map((group) => group.label)).toEqual(["q [queue]"]);
  expect(arranged.lanes.map((lane) => lane.level)).toEqual([0, 0, 1, 0, 0, 0]);
});

it("each track has a lane of its own, in a group that is closed at first", () => {
  const profile = [...Array(9).keys()].map(team).find(({ account }) => account.tracks.length > 1)!;
  const { tracks } = profile.account;
  const rows = tracks.map((path) => ({ instance: 0, kind: "warp", lane: 0, extra: 0, paths: [path] }));
  const arranged = arrange({ ...profile, rows });
  expect(arranged.lanes.flatMap((lane) => (lane.track >= 0 ? [lane.track] : []))).toEqual([...tracks.keys()]);
  const lines = shownLines(arranged, firstOpen(arranged));
  expect(lines.map((line) => [line.label, line.open])).toEqual(tracks.map((_, t) => [`warp ${t}`, false]));
  // A track's counters are in its group.
  expect(arranged.groups.map((group) => group.lanes.length)).toEqual(tracks.map(() => 2));
});

it("closed groups hide what is in them and show themselves", () => {
  const arranged = arrange(nested());
  expect(shownLines(arranged, new Set()).map((line) => line.label)).toEqual(["main"]);
  const all = shownLines(arranged, firstOpen(arranged));
  expect(all.map((line) => line.lane)).toEqual([0, 1, 2, 3, 4, 5]);
  all.forEach((line, i) => expect(line.top).toBe(i ? all[i - 1].top + all[i - 1].height : 0));
});
