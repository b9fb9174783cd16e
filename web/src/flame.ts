/** The flame graph as numbers: which boxes there are and where they stand. */

import type { Profile } from "./data.ts";
import { activeCycles, leafWeights } from "./derive.ts";

/** A box; `-1` as frame is the whole run. */
export interface Node {
  frame: number;
  /** It stands for all tracks of a team; its frame is that of the first. */
  team: boolean;
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

export interface FlameOptions {
  /** Split each cycle among what ran in parallel, or count it for each. */
  scaled: boolean;
  /** Leave out what a compiler made; what it called stands on its caller. */
  hideGenerated: boolean;
  /** Ends of stacks first, their callers on them. */
  bottomUp: boolean;
  /** The tracks of a team are one box: they run one program. */
  merged: boolean;
}

export interface Flame {
  root: Node;
  /** So many make a cycle. */
  unit: number;
  nodes: Node[];
}

/** Builds the graph of some trees' cycles. */
export function flame(profile: Profile, weights: Float64Array, options: FlameOptions): Flame {
  const skip = Uint8Array.from(profile.frame, (frame) =>
    options.hideGenerated && profile.frames[frame].generated ? 1 : 0,
  );
  const { own, unit } = leafWeights(profile, weights, options.scaled, skip);
  const root: Node = {
    frame: -1, team: false, paths: [], parent: null, depth: 0, children: [], end: -1, own: 0, total: 0, active: 0,
  };
  const merged = profile.frames.map((frame) => options.merged && profile.team && frame.track);
  const nodes = options.bottomUp
    ? fromEnds(profile, own, skip, merged, root)
    : fromRoots(profile, weights, own, skip, merged, root);
  for (let cycles = 0, i = 0; i < weights.length; i++) root.active = cycles += weights[i];
  // Children stand behind their callers in `nodes`.
  for (let i = nodes.length - 1; i >= 0; i--) nodes[i].parent!.total += nodes[i].total;
  if (options.bottomUp) for (const node of nodes) node.children.sort((a, b) => b.total - a.total);
  if (options.bottomUp) root.children.sort((a, b) => b.total - a.total);
  return { root: single(root), unit, nodes };
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
  known: Map<string, Node>, ids: Map<Node, number>, parent: Node, frame: number, team: boolean, nodes: Node[],
): Node {
  const key = `${ids.get(parent)} ${team ? "team" : frame}`;
  let node = known.get(key);
  if (!node) {
    node = { frame, team, paths: [], parent, depth: parent.depth + 1, children: [], end: -1, own: 0, total: 0, active: 0 };
    known.set(key, node);
    ids.set(node, ids.size);
    parent.children.push(node);
    nodes.push(node);
  }
  return node;
}

function fromRoots(
  profile: Profile, weights: Float64Array, own: Float64Array, skip: Uint8Array, merged: boolean[], root: Node,
): Node[] {
  const nodes: Node[] = [];
  const known = new Map<string, Node>();
  const ids = new Map<Node, number>([[root, 0]]);
  const at = new Array<Node>(own.length);
  for (const path of profile.order) {
    const above = profile.parent[path];
    const below = above < 0 ? root : at[above];
    const frame = profile.frame[path];
    const node = (at[path] = skip[path] ? below : child(known, ids, below, frame, merged[frame], nodes));
    if (!skip[path]) node.paths.push(path);
    if (node.end < 0 && own[path] > 0) node.end = path;
    node.own += own[path];
    node.total += own[path];
  }
  const index = new Map(nodes.map((node, i) => [node, i]));
  const of = Int32Array.from(at, (node, path) => (skip[path] || !node ? -1 : (index.get(node) ?? -1)));
  activeCycles(profile, weights, of, nodes.length).forEach((cycles, i) => {
    nodes[i].active = cycles;
  });
  // What was never active here is not drawn.
  const shown = nodes.filter((node) => node.active > 0);
  for (const node of [root, ...shown]) node.children = node.children.filter((c) => c.active > 0);
  return shown;
}

function fromEnds(
  profile: Profile, own: Float64Array, skip: Uint8Array, merged: boolean[], root: Node,
): Node[] {
  const nodes: Node[] = [];
  const known = new Map<string, Node>();
  const ids = new Map<Node, number>([[root, 0]]);
  for (const end of profile.order) {
    if (!own[end]) continue;
    let node = root;
    let path = end;
    for (; path >= 0; path = profile.parent[path]) {
      if (skip[path]) continue;
      node = child(known, ids, node, profile.frame[path], merged[profile.frame[path]], nodes);
      node.paths.push(end);
      if (node.end < 0) node.end = end;
    }
    // The weight sits where the stack is complete; callers-to-be get it when sums are made.
    node.own += own[end];
    node.total += own[end];
  }
  return nodes;
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
