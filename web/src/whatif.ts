/** The run timed anew with other lengths of its blocks, from the graph of its activations; a run of threads from curves. */

import { computed } from "@preact/signals";
import type { ActivationGraph, CriticalKey, Curve, Profile } from "./data.ts";
import { changes, profile } from "./state.ts";
import { number } from "./text.ts";

/** The cycles of the run with lengths for some keys instead of their own. */
export function retimed(graph: ActivationGraph, fixed: (key: number) => number | undefined): number {
  const { own, least, alike, key, phases, phase, times, members, member, lead } = graph;
  const length = new Float64Array(own.length);
  const first = new Float64Array(members.length + 1);
  for (let i = 0; i < members.length; i++) first[i + 1] = first[i]! + members[i]!;
  const of = new Float64Array(members.length).fill(-1);
  // Activations of one block of fixed length are as long as the longest of them.
  const longest = new Map<number, number>();
  const taken = (node: number): number => longest.get(alike[node]!) ?? length[node]!;
  const lengthOf = (which: number): number => {
    if (of[which]! < 0) {
      for (let at = first[which]!; at < first[which + 1]!; at++) of[which] = Math.max(of[which]!, taken(member[at]!) + lead[at]!);
    }
    return of[which]!;
  };
  let at = 0;
  for (let node = 0; node < own.length; node++) {
    let sum = own[node]!;
    for (const end = at + phases[node]!; at < end; at++) sum += times[at]! * lengthOf(phase[at]!);
    length[node] = fixed(key[node]!) ?? Math.max(sum, least[node]!);
    const block = alike[node]!;
    if (block >= 0) longest.set(block, Math.max(longest.get(block) ?? 0, length[node]!));
  }
  return length[own.length - 1] ?? 0;
}

/** The run's cycles with some definitions' lengths changed; those of a curve are known for one change alone. */
export function cyclesWith(shown: Profile, lengths: ReadonlyMap<number, number>): number {
  const { critical } = shown;
  if (!critical || !lengths.size) return shown.cycles;
  if (critical.graph) return retimed(critical.graph, (key) => lengths.get(critical.keys[key]!.definition));
  const [[definition, value]] = [...lengths] as [[number, number]];
  const curve = curveOf(shown, definition);
  return curve?.totals[curve.values.indexOf(value)] ?? shown.cycles;
}

/** The curve of a definition, if it has one. */
export function curveOf(shown: Profile, definition: number): Curve | undefined {
  return shown.critical?.curves.find((one) => one.definition === definition);
}

/** The run's cycles with all that is changed. */
export const changedCycles = computed(() => cyclesWith(profile.value, changes.value));

/** What runs under one definition, all its places together; null if there is nothing to time it with. */
export function definitionOf(shown: Profile, keys: CriticalKey[]): number | null {
  const found = new Set(keys.map((one) => one.definition));
  const [only] = found;
  if (found.size !== 1 || only === undefined) return null;
  return shown.critical?.graph || curveOf(shown, only) ? only : null;
}

/** Change the length of a definition; null: as it was. Of curves each change is by itself. */
export function change(definition: number, length: number | null): void {
  const next = new Map(curveOf(profile.value, definition) ? [] : changes.value);
  if (length === null) next.delete(definition);
  else next.set(definition, length);
  changes.value = next;
}

/** Lengths as an address has them: `3-10,7-1`. */
export function textOfLengths(lengths: ReadonlyMap<number, number>): string {
  return [...lengths].sort(([a], [b]) => a - b).map(([definition, length]) => `${definition}-${length}`).join(",");
}

export function lengthsOf(text: string, shown: Profile): ReadonlyMap<number, number> {
  const known = new Set(shown.critical?.graph ? shown.critical.keys.map((one) => one.definition) : []);
  const found = new Map<number, number>();
  for (const part of text.split(",")) {
    const [, definition, length] = /^(\d{1,9})-(\d{1,15})$/.exec(part)?.map(Number) ?? [];
    if (definition === undefined || length === undefined) continue;
    if (curveOf(shown, definition)?.values.includes(length)) return new Map([[definition, length]]);
    if (known.has(definition)) found.set(definition, length);
  }
  return found;
}

/** A difference with its sign. */
export function signed(value: number): string {
  return value > 0 ? `+${number(value)}` : `−${number(-value)}`;
}
