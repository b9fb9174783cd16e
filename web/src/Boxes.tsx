/** The flame graph's boxes, as elements. */

import { useRef, useState } from "preact/hooks";
import { type Either, splitOf } from "./account.ts";
import type { Profile, Use } from "./data.ts";
import type { Box, Flame, Node } from "./flame.ts";
import { fill, fillEither, inkName } from "./paint.ts";
import { cycles, kindColour, kindName, number, percent } from "./text.ts";

const ROW = 19;

/** What tells a box from all others, also after the graph was made anew. */
export function keyOf(node: Node): string {
  return node.parent ? `${keyOf(node.parent)} ${node.frame}` : String(node.frame);
}

/** A box's name. */
export function nameOf(profile: Profile, node: Node): string {
  if (node.frame < 0) return "run";
  const { name, kind } = profile.frames[node.frame]!;
  return node.team ? `${number(node.paths.length)} ${kindName(kind)}` : name;
}

/** What a box's own cycles are for, and what counters may call them; none where it always calls something. */
export function usesOfBox(profile: Profile, uses: Int32Array, node: Node): { use: Use; either: Either | null } | null {
  if (node.end < 0) return null;
  const use = profile.uses[uses[node.end]!]!;
  return { use, either: use.work ? splitOf(profile, node.end) : null };
}

interface BoxesProps {
  profile: Profile;
  graph: Flame;
  zoomed: Node;
  boxes: Box[];
  rows: number;
  rootOnTop: boolean;
  found: Set<Node> | null;
  /** Call paths that are highlighted. */
  pointed: ReadonlySet<number> | null;
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
      style={{ height: `${rows * ROW}px` }} onMouseLeave={() => props.tell(null)}>
      {boxes.map(({ node, left, width, above }, index) => {
        const kind = node.frame < 0 ? "run" : profile.frames[node.frame]!.kind;
        const name = nameOf(profile, node);
        const row = props.rootOnTop ? node.depth : rows - 1 - node.depth;
        const uses = props.uses && usesOfBox(profile, props.uses, node);
        const use = uses && (uses.either ? `${uses.use.name} or waiting` : uses.use.name);
        const classes = ["box", props.uses ? "k-run" : kindColour(kind)];
        if (above) classes.push("above");
        if (node.frame >= 0 && profile.frames[node.frame]!.generated) classes.push("made");
        if (props.found) classes.push(props.found.has(node) ? "hit" : "miss");
        if (pointed && node.paths.some((path) => pointed.has(path))) classes.push("pointed");
        const amount = node.active || node.total / graph.unit;
        return (
          <div key={keyOf(node)} class={classes.join(" ")} role="treeitem" data-box={index} aria-level={node.depth + 1}
            aria-label={`${name}, ${kind}, ${use ? `${use}, ` : ""}${cycles(amount)}, ${percent(amount, props.total)}`}
            aria-selected={node === zoomed} tabIndex={node === here ? 0 : -1}
            style={{
              left: `${100 * left}%`, width: `${100 * width}%`, top: `${row * ROW}px`,
              ...(uses ? { ...(uses.either ? fillEither(uses.either) : fill(uses.use)), color: `var(--${inkName(uses.use)})` } : {}),
            }}
            onClick={() => { setAt(node); props.press(node); }}
            onMouseEnter={() => props.tell(node)} onFocus={() => { setAt(node); props.tell(node); }}>
            {width > 0.012 && <span>{name}</span>}
          </div>
        );
      })}
    </div>
  );
}
