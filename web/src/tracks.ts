/**
 * What the units of tracks went to, in parts: by track, path, use and place, as Python divided those
 * of the whole run. Of a span a part has what its path has of its cycles, and the parts of a track
 * and use together what the account says of the span.
 */

import { account, unitsIn } from "./account.ts";
import type { Profile, TrackStacks, TrackTree } from "./data.ts";
import { type Span, eachTree, treeCycles, usesOfOwn } from "./derive.ts";
import { type Flame, type FlameOptions, flame, graph } from "./flame.ts";

/** Units of each part in a span. */
export function unitsOfParts(profile: Profile, stacks: TrackStacks, span: Span): Float64Array {
  const result = Float64Array.from(stacks.units);
  if (span.from === 0 && span.to === profile.cycles) return result;
  const tracks = profile.account.tracks.length;
  // A path is in one track; where one is nowhere, the track has a place of its own.
  const place = (track: number, path: number): number => (path < 0 ? profile.parent.length + track : path);
  const all = new Float64Array(profile.parent.length + tracks);
  const here = new Float64Array(all.length);
  result.forEach((units, part) => (all[place(stacks.track[part], stacks.path[part])] += units));
  eachTree(profile, treeCycles(profile, span), (cycles, _first, _end, tree) => {
    for (let track = 0; track < tracks; track++) here[place(track, stacks.leafOfTrees[tree * tracks + track] - 1)] += cycles;
  });
  const width = profile.uses.length;
  const of = (part: number): number => stacks.track[part] * width + stacks.use[part];
  const sums = new Float64Array(tracks * width);
  const whole = new Float64Array(tracks * width);
  const base = result.map((units, part) => {
    const at = place(stacks.track[part], stacks.path[part]);
    return (units * here[at]) / all[at];
  });
  base.forEach((units, part) => {
    sums[of(part)] += units;
    whole[of(part)] += result[part];
  });
  const wanted = account(profile, span).of;
  // Where a sample is cut, a track-cycle may be rounded to a use that the track never has: the others' then.
  const kept = new Float64Array(tracks);
  wanted.forEach((units, at) => whole[at] && (kept[Math.floor(at / width)] += units));
  return result.map((units, part) => {
    const at = of(part);
    const all = ((span.to - span.from) * wanted[at]) / (kept[stacks.track[part]] || 1);
    return sums[at] ? (base[part] * all) / sums[at] : (units * all) / whole[at];
  });
}

/** Units of each use at the ends of some paths. */
export function usesOfEnds(profile: Profile, stacks: TrackStacks, units: Float64Array, paths: Iterable<number>): Float64Array {
  const wanted = new Set(paths);
  const result = new Float64Array(profile.uses.length);
  units.forEach((count, part) => wanted.has(stacks.path[part]) && (result[stacks.use[part]] += count));
  return result;
}

/** The graph of the parts' units. */
export function trackFlame(
  tree: TrackTree, units: Float64Array, options: Pick<FlameOptions, "hideGenerated" | "bottomUp">,
): Flame {
  const own = new Float64Array(tree.parent.length);
  units.forEach((count, part) => (own[tree.end[part]] += count));
  const made = graph(tree, own, options);
  for (const node of new Set([...made.nodes, made.root])) {
    node.paths = [...new Set(node.paths.flatMap((path) => tree.paths[path]))];
    node.active = node.total;
  }
  return { ...made, unit: 1 };
}

/** A flame graph of a part of a run, whatever runs in it. */
export interface Drawn {
  /** The profile, with the frames that the graph's boxes name. */
  profile: Profile;
  graph: Flame;
  /** For each path of the graph the use of its own cycles. */
  uses: Int32Array;
  /** Units of the account in the span. */
  total: number;
}

/** The graph of a span: of tracks by what their units went to, `merged` or apart. */
export function drawnFlame(
  profile: Profile, span: Span, weights: Float64Array, options: FlameOptions & { merged: boolean },
): Drawn {
  const { stacks } = profile;
  const total = unitsIn(profile, span);
  if (!stacks) return { profile, graph: flame(profile, weights, options), uses: usesOfOwn(profile, weights, span), total };
  const tree = (!options.merged && stacks.apart) || stacks.merged;
  const graph = trackFlame(tree, unitsOfParts(profile, stacks, span), options);
  return { profile: { ...profile, frames: tree.frames }, graph, uses: Int32Array.from(tree.frame, (frame) => tree.uses[frame]), total };
}
