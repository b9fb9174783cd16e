/** The flame graph as numbers: its boxes and their positions. */

import type { Profile } from "./data.ts";
import { activeCycles, leafWeights } from "./derive.ts";

/** A box; `-1` as frame is the whole run. */
export interface Node {
  frame: number;
  /** Call paths that end here: several if a generated frame between them is hidden. */
  paths: number[];
  parent: Node | null;
  depth: number;
  children: Node[];
  /** A path whose own cycles it has; -1 where it always calls something. */
  end: number;
  /** Weight of its own and with all that it called, in the graph's unit. */
  own: number;
  total: number;
  /** Cycles in which it was active, however much ran beside it. */
  active: number;
}

/** Boxes of a smaller share of what is shown are not drawn. */
export const NARROWEST = 0.0007;

/** What tells a box from all others, also after the graph was made anew. */
export function keyOf(node: Node): string {
  return node.parent ? `${keyOf(node.parent)} ${node.frame}` : String(node.frame);
}

export interface FlameOptions {
  /** Split each cycle among what ran in parallel, or count it for each. */
  scaled: boolean;
  /** Leave out what a compiler made; its callees then are on top of its caller. */
  hideGenerated: boolean;
  /** Ends of stacks first, their callers on them. */
  bottomUp: boolean;
}

/** Call paths and what they end in. */
export type Paths = Pick<Profile, "parent" | "frame" | "frames" | "order">;

export interface Flame {
  root: Node;
  /** So many make a cycle. */
  unit: number;
  nodes: Node[];
}

/** Builds the graph of some trees' cycles. */
export function flame(profile: Profile, weights: Float64Array, options: FlameOptions): Flame {
  const skip = hidden(profile, options.hideGenerated);
  const { own, unit } = leafWeights(profile, weights, options.scaled, skip);
  const made = graph(profile, own, options);
  const { root, nodes, at } = made;
  let cycles = 0;
  for (let i = 0; i < weights.length; i++) cycles += weights[i];
  if (root.frame < 0) root.active = cycles;
  if (!options.bottomUp) {
    const index = new Map(nodes.map((node, i) => [node, i]));
    const of = Int32Array.from(at, (node, path) => (skip[path] || !node ? -1 : (index.get(node) ?? -1)));
    activeCycles(profile, weights, of, nodes.length).forEach((count, i) => {
      nodes[i].active = count;
    });
  }
  return { root, unit, nodes };
}

function hidden(profile: Paths, hideGenerated: boolean): Uint8Array {
  return Uint8Array.from(profile.frame, (frame) => (hideGenerated && profile.frames[frame].generated ? 1 : 0));
}

/** The graph of what paths weigh by themselves, and the box of each path. */
export function graph(
  paths: Paths, own: Float64Array, options: Pick<FlameOptions, "hideGenerated" | "bottomUp">,
): { root: Node; nodes: Node[]; at: Node[] } {
  const skip = hidden(paths, options.hideGenerated);
  const root: Node = {
    frame: -1, paths: [], parent: null, depth: 0, children: [], end: -1, own: 0, total: 0, active: 0,
  };
  const at = new Array<Node>(own.length);
  const every = options.bottomUp ? fromEnds(paths, own, skip, root) : fromRoots(paths, own, skip, root, at);
  // Callees come after their callers.
  for (let i = every.length - 1; i >= 0; i--) every[i].parent!.total += every[i].total;
  // What was never active here is not drawn.
  const nodes = every.filter((node) => node.total > 0);
  for (const node of [root, ...nodes]) {
    node.children = node.children.filter((child) => child.total > 0);
    if (options.bottomUp) node.children.sort((a, b) => b.total - a.total);
  }
  return { root: single(root), nodes, at };
}

/** Where there is one root, it is the run. */
function single(root: Node): Node {
  const only = root.children[0];
  if (root.children.length !== 1 || !only || only.total !== root.total) return root;
  const up = (node: Node): void => {
    node.depth--;
    node.children.forEach(up);
  };
  up(only);
  only.parent = null;
  return only;
}

function child(
  known: Map<string, Node>, ids: Map<Node, number>, parent: Node, frame: number, nodes: Node[],
): Node {
  const key = `${ids.get(parent)} ${frame}`;
  let node = known.get(key);
  if (!node) {
    node = { frame, paths: [], parent, depth: parent.depth + 1, children: [], end: -1, own: 0, total: 0, active: 0 };
    known.set(key, node);
    ids.set(node, ids.size);
    parent.children.push(node);
    nodes.push(node);
  }
  return node;
}

function fromRoots(paths: Paths, own: Float64Array, skip: Uint8Array, root: Node, at: Node[]): Node[] {
  const nodes: Node[] = [];
  const known = new Map<string, Node>();
  const ids = new Map<Node, number>([[root, 0]]);
  for (const path of paths.order) {
    const above = paths.parent[path];
    const below = above < 0 ? root : at[above];
    const node = (at[path] = skip[path] ? below : child(known, ids, below, paths.frame[path], nodes));
    if (!skip[path]) node.paths.push(path);
    if (node.end < 0 && own[path] > 0) node.end = path;
    node.own += own[path];
    node.total += own[path];
  }
  return nodes;
}

function fromEnds(paths: Paths, own: Float64Array, skip: Uint8Array, root: Node): Node[] {
  const nodes: Node[] = [];
  const known = new Map<string, Node>();
  const ids = new Map<Node, number>([[root, 0]]);
  for (const end of paths.order) {
    if (!own[end]) continue;
    let node = root;
    for (let path = end; path >= 0; path = paths.parent[path]) {
      if (skip[path]) continue;
      node = child(known, ids, node, paths.frame[path], nodes);
      node.paths.push(end);
      if (node.end < 0) node.end = end;
    }
    // The weight sits where the stack is complete; callers-to-be get it when sums are made.
    node.own += own[end];
    node.total += own[end];
  }
  return nodes;
}

/**
 * The boxes of some call paths. Where none of these has one, as a state whose places are drawn, it is
 * those of what they call; where that has none either, that of who calls them.
 */
export function boxesOf(made: Flame, parent: Int32Array, paths: ReadonlySet<number>): Set<Node> {
  const all = [...new Set([made.root, ...made.nodes])];
  const within = (path: number): boolean => {
    for (let at = path; at >= 0; at = parent[at]) if (paths.has(at)) return true;
    return false;
  };
  for (const is of [(path: number) => paths.has(path), within]) {
    const found = all.filter((node) => node.paths.some(is));
    if (found.length) return new Set(found);
  }
  const above = new Set([...paths].map((path) => parent[path]).filter((path) => path >= 0));
  return above.size ? boxesOf(made, parent, above) : new Set();
}

/** A box to draw; `left` and `width` are shares of what is shown. */
export interface Box {
  node: Node;
  left: number;
  width: number;
  /** A caller of what is zoomed to. */
  above: boolean;
}

export interface Layout {
  boxes: Box[];
  depth: number;
  leftOut: number;
}

/** Boxes of what is below `focus`, and its callers at full width; narrower ones are left out. */
export function layOut(flame: Flame, focus: Node, narrowest: number): Layout {
  const boxes: Box[] = [];
  for (let node = focus.parent; node; node = node.parent) {
    boxes.unshift({ node, left: 0, width: 1, above: true });
  }
  let depth = focus.depth;
  let leftOut = 0;
  const whole = focus.total || 1;
  const visit = (node: Node, left: number): void => {
    const width = node.total / whole;
    if (width < narrowest && node !== flame.root) {
      leftOut++;
      return;
    }
    boxes.push({ node, left, width, above: false });
    depth = Math.max(depth, node.depth);
    let next = left;
    for (const called of node.children) {
      visit(called, next);
      next += called.total / whole;
    }
  };
  visit(focus, 0);
  return { boxes, depth: depth + 1, leftOut };
}

const ROW = 19; // pixels
const CALLER = 4; // of a caller of what is zoomed to, in a deep graph

/** The heights of rows in so many pixels: of the callers of what is zoomed to, and of the others. */
export function heights(rows: number, callers: number, room: number): { caller: number; row: number } {
  if (rows * ROW <= room) return { caller: ROW, row: ROW };
  const caller = Math.min(CALLER, room / rows);
  return { caller, row: Math.min(ROW, (room - callers * caller) / Math.max(rows - callers, 1)) };
}

/** Which boxes a search finds, and how much of the graph is in or below them. */
export function search(flame: Flame, matches: (node: Node) => boolean): { found: Set<Node>; weight: number } {
  const found = new Set<Node>();
  let weight = 0;
  const visit = (node: Node, inside: boolean): void => {
    const hit = node.frame >= 0 && matches(node);
    if (hit) found.add(node);
    if (hit && !inside) weight += node.total;
    for (const called of node.children) visit(called, inside || hit);
  };
  visit(flame.root, false);
  return { found, weight };
}
