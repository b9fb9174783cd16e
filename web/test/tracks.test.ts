import { describe, expect, it } from "vitest";
import { account, together } from "../src/account.ts";
import type { Profile, TrackStacks, TrackTree } from "../src/data.ts";
import { treeCycles } from "../src/derive.ts";
import { type Node } from "../src/flame.ts";
import { drawnFlame, unitsOfParts } from "../src/tracks.ts";
import { dice, frame, team } from "./made.ts";

/** A team with what Python says of its parts: here a track has one path for each of its three states. */
function divided(seed: number): Profile & { stacks: TrackStacks } {
  const profile = team(seed);
  const tracks = profile.account.tracks.length;
  const width = profile.uses.length;
  const parts: { track: number; path: number; use: number; units: number }[] = [];
  const leaves = Array.from(profile.account.ofTrees!, (use, at) => {
    const track = at % tracks;
    for (let path = 1 + tracks; path < profile.parent.length; path++) {
      if (profile.trackOf[path] === track && profile.useOfPath[path] === use) return path + 1;
    }
    return 0;
  });
  for (let track = 0; track < tracks; track++) {
    for (let use = 0; use < width; use++) {
      const units = profile.account.units[track * width + use];
      // What counters tell apart was spent where the track works.
      const split = profile.series.some((series) => series.split?.[0] === track && series.split[1] === use);
      const path = profile.useOfPath.findIndex((of, at) => at > tracks && profile.trackOf[at] === track && of === (split ? 0 : use));
      if (units) parts.push({ track, path, use, units });
    }
  }
  const tree = (apart: boolean): TrackTree => {
    const frames = [frame("region", "cell"), ...profile.uses.map(({ label }) => frame(label, "state")), frame("warp", "warp")];
    const parent = [-1];
    const frameOf = [0];
    const paths: number[][] = [[0]];
    const known = new Map<string, number>();
    const path = (above: number, which: number, of: number): number => {
      const key = `${above} ${which} ${apart ? of : ""}`;
      const at = known.get(key) ?? parent.push(above) - 1;
      if (!known.has(key)) frameOf.push(which), paths.push([]);
      known.set(key, at);
      return at;
    };
    const end = parts.map((part) => {
      const below = apart ? path(0, profile.uses.length + 1, part.track) : 0;
      const at = path(below, 1 + part.use, part.track);
      paths[at].push(part.path);
      return at;
    });
    return {
      frames, uses: [-1, ...profile.uses.keys(), -1], parent: Int32Array.from(parent), frame: Uint8Array.from(frameOf),
      order: Uint8Array.from(parent.keys()), paths, end: Uint8Array.from(end),
    };
  };
  const column = (name: "track" | "path" | "use" | "units") => Int32Array.from(parts, (part) => part[name]);
  const stacks = {
    track: column("track"), path: column("path"), use: column("use"), units: column("units"),
    leafOfTrees: Uint8Array.from(leaves), merged: tree(false), apart: tracks > 1 ? tree(true) : null,
  };
  return { ...profile, stacks };
}

const OPTIONS = [false, true].flatMap((bottomUp) => [false, true].map((merged) => ({ bottomUp, merged, scaled: true, hideGenerated: false })));

describe("what tracks' units went to", () => {
  it("is what the account says, of the run and of a part of it", () => {
    for (let seed = 0; seed < 40; seed++) {
      const profile = divided(seed);
      const roll = dice(seed);
      const from = roll(profile.cycles);
      const some = { from, to: from + 1 + roll(profile.cycles - from) };
      for (const span of [{ from: 0, to: profile.cycles }, some]) {
        const units = unitsOfParts(profile, profile.stacks, span);
        const sums = new Float64Array(profile.account.units.length);
        units.forEach((count, part) => {
          expect(count).toBeGreaterThanOrEqual(0);
          sums[profile.stacks.track[part] * profile.uses.length + profile.stacks.use[part]] += count;
        });
        const width = profile.uses.length;
        const has = (at: number): boolean => profile.account.units[at] > 0;
        const wanted = account(profile, span).of;
        for (let track = 0; track < profile.account.tracks.length; track++) {
          const uses = profile.uses.map((_, use) => track * width + use);
          expect(uses.reduce((sum, at) => sum + sums[at], 0)).toBeCloseTo(span.to - span.from, 6);
          // A track-cycle that was rounded to a use which the track never has is that of others.
          if (uses.some((at) => wanted[at] && !has(at))) continue;
          for (const at of uses) expect(sums[at]).toBeCloseTo(wanted[at], 6);
        }
      }
      const all = unitsOfParts(profile, profile.stacks, { from: 0, to: profile.cycles });
      expect([...all]).toEqual([...profile.stacks.units]);
    }
  });

  it("is drawn box by box, tracks merged or apart", () => {
    for (let seed = 0; seed < 40; seed++) {
      const profile = divided(seed);
      const span = { from: Math.floor(profile.cycles / 3), to: profile.cycles };
      for (const options of OPTIONS) {
        const { graph, total, profile: named, uses } = drawnFlame(profile, span, treeCycles(profile, span), options);
        const tracks = profile.account.tracks.length;
        expect(total).toBe((span.to - span.from) * tracks);
        expect(graph.root.total).toBeCloseTo(total, 6);
        const check = (node: Node): void => {
          expect(node.total).toBeCloseTo(node.own + node.children.reduce((sum, child) => sum + child.total, 0), 6);
          node.children.forEach(check);
        };
        check(graph.root);
        if (options.bottomUp) continue;
        const boxes = graph.nodes.filter((node) => named.frames[node.frame]!.kind === "warp");
        // Equal names of different tracks stay apart by their paths' own boxes.
        expect(boxes.length).toBe(options.merged || tracks === 1 ? 0 : 1);
        if ([...account(profile, span).of].some((units, at) => units && !profile.account.units[at])) continue;
        const wanted = together(profile, account(profile, span));
        const drawn = new Float64Array(wanted.length);
        for (const node of graph.nodes) if (!node.children.length) drawn[uses[node.end]!] += node.own;
        wanted.forEach((units, use) => expect(drawn[use]).toBeCloseTo(units, 6));
      }
    }
  });
});
