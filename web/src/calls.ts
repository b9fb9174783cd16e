/** Who calls something, and what it calls, with the cycles of each. */

import type { Profile } from "./data.ts";
import { activeCycles, eachTree } from "./derive.ts";

/** A frame in an instance that calls, or is called. */
export interface Call {
  frame: number;
  instance: number;
  paths: number[];
  /** Cycles of it and what is asked about, both active. */
  cycles: number;
}

export interface Calls {
  callers: Call[];
  callees: Call[];
  /** Cycles in which it was active, and those in which it called nothing. */
  active: number;
  alone: number;
}

export function callsOf(profile: Profile, weights: Float64Array, paths: ReadonlySet<number>): Calls {
  const callers = gathered(profile, weights, (path) => (paths.has(path) && !paths.has(profile.parent[path]!) ? profile.parent[path]! : -1));
  const callees = gathered(profile, weights, (path) => (profile.parent[path]! >= 0 && paths.has(profile.parent[path]!) && !paths.has(path) ? path : -1));
  let active = 0;
  let alone = 0;
  const inner = new Int32Array(profile.parent.length).fill(-1);
  let pass = 0;
  eachTree(profile, weights, (cycles, first, end) => {
    pass++;
    let seen = false;
    let ends = false;
    for (let at = end - 1; at >= first; at--) {
      const path = profile.treePath[at]!;
      const above = profile.parent[path]!;
      if (above >= 0) inner[above] = pass;
      if (!paths.has(path)) continue;
      seen = true;
      ends ||= inner[path] !== pass;
    }
    if (seen) active += cycles;
    if (ends) alone += cycles;
  });
  return { callers, callees, active, alone };
}

/**
 * Frames in instances, most cycles first. A path stands for what `of` says: a frame that calls it, or
 * it itself; -1 for nothing. What is active several times in a cycle counts once.
 */
function gathered(profile: Profile, weights: Float64Array, of: (path: number) => number): Call[] {
  const number = new Map<string, number>();
  const found: { call: Call; paths: Set<number> }[] = [];
  const group = Int32Array.from(profile.frame, (_, path) => {
    const which = of(path);
    if (which < 0) return -1;
    const [frame, instance] = [profile.frame[which]!, profile.instance[which]!];
    const key = `${frame} ${instance}`;
    let at = number.get(key);
    if (at === undefined) {
      number.set(key, (at = found.length));
      found.push({ call: { frame, instance, paths: [], cycles: 0 }, paths: new Set() });
    }
    found[at]!.paths.add(which);
    return at;
  });
  activeCycles(profile, weights, group, found.length).forEach((cycles, at) => (found[at]!.call.cycles = cycles));
  return found
    .map(({ call, paths }) => ({ ...call, paths: [...paths] }))
    .filter((call) => call.cycles > 0)
    .sort((a, b) => b.cycles - a.cycles);
}
