/** The flame graph's boxes, as elements. */

import { signal } from "@preact/signals";
import { useRef, useState } from "preact/hooks";
import type { Profile, Use } from "./data.ts";
import { type Box, type Flame, type Node, heights, keyOf } from "./flame.ts";
import { fill, inkName } from "./paint.ts";
import { inUnit, kindColour, percent } from "./text.ts";

const READABLE = 12; // pixels of a row with names

/** As much of the window as a graph may take. */
const room = signal(roomOf());
window.addEventListener("resize", () => (room.value = roomOf()));

function roomOf(): number {
  return Math.max(240, window.innerHeight - 260);
}

/** A box's name. */
export function nameOf(profile: Profile, node: Node): string {
  return node.frame < 0 ? "run" : profile.frames[node.frame]!.name;
}

/** What a box's own cycles are for; nothing where it always calls something. */
export function useOfBox(profile: Profile, uses: Int32Array, node: Node): Use | null {
  return node.end < 0 ? null : (profile.uses[uses[node.end]!] ?? null);
}

interface BoxesProps {
  profile: Profile;
  graph: Flame;
  zoomed: Node;
  boxes: Box[];
  rows: number;
  rootOnTop: boolean;
  found: Set<Node> | null;
  /** What is highlighted. */
  pointed: ReadonlySet<Node> | null;
  total: number;
  label: string;
  /** For each path the use of its own cycles, for colours; without it these say what kind of thing it is. */
  uses: Int32Array | null;
  tell: (node: Node | null) => void;
  press: (node: Node) => void;
  back: () => void;
}

/** The boxes as a tree that a keyboard walks and a screen reader tells. */
export function Boxes(props: BoxesProps) {
  const { profile, graph, boxes, rows, zoomed, pointed } = props;
  const [at, setAt] = useState<Node | null>(null);
  const frame = useRef<HTMLDivElement>(null);
  const here = at && boxes.some((box) => box.node === at) ? at : zoomed;
  const { caller, row: high } = heights(rows, zoomed.depth, room.value);
  /** Where a depth begins, counted from the root. */
  const startOf = (depth: number): number => Math.min(depth, zoomed.depth) * caller + Math.max(0, depth - zoomed.depth) * high;
  const whole = startOf(rows);
  const go = (node: Node | null | undefined): void => {
    const index = boxes.findIndex((box) => box.node === node);
    if (!node || index < 0) return;
    setAt(node);
    frame.current?.querySelector<HTMLElement>(`[data-box="${index}"]`)?.focus();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const up = props.rootOnTop ? "ArrowDown" : "ArrowUp";
    const down = props.rootOnTop ? "ArrowUp" : "ArrowDown";
    const beside = (step: number): Node | undefined => {
      const row = boxes.filter((box) => box.node.depth === here.depth);
      return row[row.findIndex((box) => box.node === here) + step]?.node;
    };
    const drawn = new Set(boxes.map((box) => box.node));
    if (event.key === up) go(here.children.find((node) => drawn.has(node)));
    else if (event.key === down) go(here.parent);
    else if (event.key === "ArrowRight") go(beside(1));
    else if (event.key === "ArrowLeft") go(beside(-1));
    else if (event.key === "Home") go(boxes[0]!.node);
    else if (event.key === "Enter" || event.key === " ") props.press(here);
    else if (event.key === "Escape" && zoomed !== graph.root) props.back();
    else return;
    event.preventDefault();
  };
  return (
    <div class="flame" role="tree" aria-label={props.label} ref={frame} onKeyDown={onKeyDown}
      style={{ height: `${whole}px` }} onMouseLeave={() => props.tell(null)}>
      {boxes.map(({ node, left, width, above }, index) => {
        const kind = node.frame < 0 ? "run" : profile.frames[node.frame]!.kind;
        const name = nameOf(profile, node);
        const use = props.uses && useOfBox(profile, props.uses, node);
        const classes = ["box", props.uses ? "k-run" : kindColour(kind)];
        if (above) classes.push("above");
        if (node.frame >= 0 && profile.frames[node.frame]!.generated) classes.push("made");
        if (props.found) classes.push(props.found.has(node) ? "hit" : "miss");
        if (pointed?.has(node)) classes.push("pointed");
        const [begin, end] = [startOf(node.depth), startOf(node.depth + 1)];
        const size = end - begin;
        // Where rows are too low for text, each name covers some of them.
        const every = size < READABLE && node.depth % Math.ceil(READABLE / size) === 0;
        if (every) classes.push("low");
        const amount = node.active || node.total / graph.unit;
        return (
          <div key={keyOf(node)} class={classes.join(" ")} role="treeitem" data-box={index} aria-level={node.depth + 1}
            aria-label={`${name}, ${kind}, ${use ? `${use.name}, ` : ""}${inUnit(amount, profile.account.unit)}, ${percent(amount, props.total)}`}
            aria-selected={node === zoomed} tabIndex={node === here ? 0 : -1}
            style={{
              left: `${100 * left}%`, width: `${100 * width}%`, top: `${props.rootOnTop ? begin : whole - end}px`,
              height: `${size - (size > 4 ? 1 : 0)}px`, fontSize: `${Math.max(10, Math.min(12, size - 2))}px`, lineHeight: `${size - 1}px`,
              ...(use ? { ...fill(use), color: `var(--${inkName(use)})` } : {}),
            }}
            onClick={() => { setAt(node); props.press(node); }}
            onMouseEnter={() => props.tell(node)} onFocus={() => { setAt(node); props.tell(node); }}>
            {width > 0.012 && (size >= READABLE || every) && <span>{name}</span>}
          </div>
        );
      })}
    </div>
  );
}
