/** The stages of a loop's operations, and what was waited for in them. */

import type { Graph, Operation, Profile } from "./data.ts";
import { type Span, summed } from "./derive.ts";

/** For each graph the cycles that tracks were in it, and in no loop inside it; of loops side by side each counts. */
export function spentIn(shown: Profile, weights: Float64Array): Float64Array {
  const found = new Float64Array(shown.schedules.length);
  const of = new Map(shown.schedules.map(({ frame }, graph) => [frame, graph]));
  const graphs = Int32Array.from(shown.frame, (frame) => of.get(frame) ?? -1);
  for (let tree = 0; tree + 1 < shown.treeStart.length; tree++) {
    const weight = weights[tree]!;
    if (!weight) continue;
    const around = new Set<number>();
    for (let at = shown.treeStart[tree]!; at < shown.treeStart[tree + 1]!; at++) {
      const path = shown.treePath[at]!;
      if (graphs[path]! < 0) continue;
      let above = shown.parent[path]!;
      while (above >= 0 && graphs[above]! < 0) above = shown.parent[above]!;
      around.add(above);
    }
    for (let at = shown.treeStart[tree]!; at < shown.treeStart[tree + 1]!; at++) {
      const path = shown.treePath[at]!;
      if (graphs[path]! >= 0 && !around.has(path)) found[graphs[path]!]! += weight;
    }
  }
  return found;
}

/** The graph in which most cycles were spent. */
export function hottest(spent: Float64Array): number {
  return spent.reduce((best, cycles, graph) => (cycles > spent[best]! ? graph : best), 0);
}

/** An operation in its stages. */
export interface Placed {
  index: number;
  operation: Operation;
  /** Its first stage, and the one behind its last. */
  from: number;
  to: number;
  /** On a recurrence that bounds the initiation interval. */
  limits: boolean;
  /** Cycles that were waited there, all threads together. */
  waited: number;
  exact: boolean;
}

/** The operations of a graph in the order in which they begin. */
export function placed(shown: Profile, graph: Graph, span: Span): Placed[] {
  const limiting = new Set(
    graph.bounds.filter(({ interval }) => interval === graph.interval).flatMap(({ operations }) => operations),
  );
  return graph.operations
    .map((operation, index): Placed => {
      const waits = operation.series.map((series) => summed(shown.series[series]!, span));
      return {
        index, operation, from: operation.stage, to: operation.stage + Math.max(operation.stages, 1), limits: limiting.has(index),
        waited: waits.reduce((sum, one) => sum + one.sum, 0), exact: waits.every((one) => one.exact),
      };
    })
    .sort((a, b) => a.from - b.from || a.operation.stages - b.operation.stages || a.index - b.index);
}

/** What an operation is, in few words: `16 × fadd32`, `load A`. */
export function named({ name, array, unit, count }: Operation): string {
  const what = unit || (array && name !== "loop" ? `${name} ${array}` : name === "loop" ? `loop ${array}` : name);
  return count > 1 ? `${count} × ${what}` : what;
}
