import { useMemo, useRef, useState } from "preact/hooks";
import type { Profile } from "./data.ts";
import { type Box, type Flame, type Node, flame, layOut, search } from "./flame.ts";
import { Help } from "./Help.tsx";
import { countedCycles, focus, point, profile, weights } from "./state.ts";
import { cycles, decimal, number, percent } from "./text.ts";

const ROW = 19;

export function FlameView() {
  const shown = profile.value;
  const [scaled, setScaled] = useState(true);
  const [hideGenerated, setHide] = useState(false);
  const [bottomUp, setBottomUp] = useState(false);
  const [rootOnTop, setRootOnTop] = useState(false);
  const [pattern, setPattern] = useState("");
  const [zoom, setZoom] = useState<string>("");
  const [told, setTold] = useState<Node | null>(null);
  const counts = weights.value;
  const graph = useMemo(
    () => flame(shown, counts, { scaled, hideGenerated, bottomUp }),
    [shown, counts, scaled, hideGenerated, bottomUp],
  );
  const zoomed = useMemo(() => graph.nodes.find((node) => keyOf(node) === zoom) ?? graph.root, [graph, zoom]);
  const layout = useMemo(() => layOut(graph, zoomed, 0.0007), [graph, zoomed]);
  const wanted = expression(pattern);
  const found = useMemo(
    () => (wanted ? search(graph, (node) => wanted.test(shown.frames[node.frame]!.name)) : null),
    [graph, pattern],
  );
  const anyGenerated = shown.frames.some((frame) => frame.generated);
  const total = countedCycles.value;
  const drawn = graph.root.total / graph.unit;
  return (
    <section id="flame" aria-labelledby="flame-title">
      <h2 id="flame-title">Flame graph</h2>
      <div class="tools">
        <Choice label="Width" value={scaled} options={[[true, "scaled"], [false, "flat"]]} choose={setScaled} />
        <Choice label="Order" value={bottomUp} options={[[false, "callers first"], [true, "inverted"]]}
          choose={(value) => { setBottomUp(value); setZoom(""); }} />
        <Choice label="Root" value={rootOnTop} options={[[false, "below"], [true, "on top"]]} choose={setRootOnTop} />
        {anyGenerated && (
          <label><input type="checkbox" checked={hideGenerated} onChange={(e) => setHide(e.currentTarget.checked)} /> hide what the compiler made</label>
        )}
        <label class="search">
          Search <input type="search" value={pattern} aria-invalid={pattern !== "" && !wanted}
            placeholder="regular expression" onInput={(e) => setPattern(e.currentTarget.value)} />
        </label>
        <output data-part="found">
          {found && `${number(found.found.size)} ${found.found.size === 1 ? "box" : "boxes"}, ${percent(found.weight, graph.root.total)}`}
        </output>
        <button type="button" data-part="reset" disabled={zoomed === graph.root} onClick={() => setZoom("")}>Reset zoom</button>
      </div>
      <p class="note" data-part="flame-total">
        {scaled
          ? `Width = cycles; a cycle is split evenly among what runs in parallel, so widths add up to ${cycles(drawn)}.`
          : `Width = cycles of every stack, in parallel or not: together ${number(drawn)} for ${cycles(total)}.`}
      </p>
      <Boxes
        profile={shown} graph={graph} zoomed={zoomed} boxes={layout.boxes} rows={layout.depth} rootOnTop={rootOnTop}
        found={found?.found ?? null} tell={setTold} total={total}
        press={(node) => {
          setZoom(node === graph.root ? "" : keyOf(node));
          if (node.frame >= 0 && node !== graph.root && !bottomUp) {
            if (focus.value?.label !== nameOf(shown, node)) point(nameOf(shown, node), node.paths);
          }
        }}
        back={() => setZoom("")}
      />
      <p class="details" data-part="details">{about(shown, graph, told ?? zoomed, total, scaled)}</p>
      {layout.leftOut > 0 && <p class="note">Not drawn: {number(layout.leftOut)} boxes too narrow to see; zoom in for them.</p>}
      <Help>
        <p>
          Each box stands on what called it; its width is cycles. A bare stretch above a box is time in which it
          called nothing: for a control block or a cell, that is overhead of that very box. Ask first which
          red boxes are wide and bare.
        </p>
        <p>
          <b>Scaled</b>: three things at once get a third of a cycle each, so widths add up to the run. <b>Flat</b>:
          each gets the whole cycle. <b>Inverted</b>: what was at the end of the stacks comes first, its callers on it;
          that gathers what is called from many places. Press a box to zoom and to point it out on the timeline;
          arrow keys move, Enter zooms, Escape goes back.
        </p>
      </Help>
    </section>
  );
}

function Choice<T>(props: { label: string; value: T; options: [T, string][]; choose: (value: T) => void }) {
  return (
    <span class="choice" role="group" aria-label={props.label}>
      {props.options.map(([value, text]) => (
        <button type="button" aria-pressed={value === props.value} onClick={() => props.choose(value)}>{text}</button>
      ))}
    </span>
  );
}

function expression(pattern: string): RegExp | null {
  if (!pattern) return null;
  try {
    return new RegExp(pattern, "i");
  } catch {
    return null;
  }
}

function keyOf(node: Node): string {
  return node.parent ? `${keyOf(node.parent)} ${node.frame}` : String(node.frame);
}

function nameOf(profile: Profile, node: Node): string {
  return node.frame < 0 ? "run" : profile.frames[node.frame]!.name;
}

function about(profile: Profile, graph: Flame, node: Node, total: number, scaled: boolean): string {
  const weight = node.total / graph.unit;
  const parts = [nameOf(profile, node)];
  const frame = profile.frames[node.frame];
  if (frame) {
    const inside = node.paths.length ? ` in ${profile.instances[profile.instance[node.paths[0]!]!]}` : "";
    parts.push(`${frame.kind}${frame.detail && frame.kind === "control" ? ` (${frame.detail})` : ""}${inside}${frame.generated ? ", made by the compiler" : ""}`);
    if (frame.positions.length) parts.push(frame.positions.map((at) => `${at.file}:${at.line}`).join(", "));
  }
  if (node.active) parts.push(`active ${number(node.active)} of ${number(total)} cycles (${percent(node.active, total)})`);
  if (scaled || !node.active) parts.push(`its width: ${decimal(weight)} (${percent(node.total, graph.root.total)})`);
  if (node.own && node.own !== node.total) parts.push(`calling nothing: ${decimal(node.own / graph.unit)}`);
  return parts.join(" · ");
}

interface BoxesProps {
  profile: Profile;
  graph: Flame;
  zoomed: Node;
  boxes: Box[];
  rows: number;
  rootOnTop: boolean;
  found: Set<Node> | null;
  total: number;
  tell: (node: Node | null) => void;
  press: (node: Node) => void;
  back: () => void;
}

/** The boxes as a tree that a keyboard walks and a screen reader tells. */
function Boxes(props: BoxesProps) {
  const { profile, graph, boxes, rows, zoomed } = props;
  const [at, setAt] = useState<Node | null>(null);
  const frame = useRef<HTMLDivElement>(null);
  const here = at && boxes.some((box) => box.node === at) ? at : zoomed;
  const pointed = focus.value?.paths;
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
    <div class="flame" role="tree" aria-label="Call paths by cycles" ref={frame} onKeyDown={onKeyDown}
      style={{ height: `${rows * ROW}px` }} onMouseLeave={() => props.tell(null)}>
      {boxes.map(({ node, left, width, above }, index) => {
        const kind = node.frame < 0 ? "run" : profile.frames[node.frame]!.kind;
        const name = nameOf(profile, node);
        const row = props.rootOnTop ? node.depth : rows - 1 - node.depth;
        const classes = ["box", `k-${kind}`];
        if (above) classes.push("above");
        if (node.frame >= 0 && profile.frames[node.frame]!.generated) classes.push("made");
        if (props.found) classes.push(props.found.has(node) ? "hit" : "miss");
        if (pointed && node.paths.some((path) => pointed.has(path))) classes.push("pointed");
        const amount = node.active || node.total / graph.unit;
        return (
          <div key={keyOf(node)} class={classes.join(" ")} role="treeitem" data-box={index} aria-level={node.depth + 1}
            aria-label={`${name}, ${kind}, ${cycles(amount)}, ${percent(amount, props.total)}`}
            aria-selected={node === zoomed} tabIndex={node === here ? 0 : -1}
            style={{ left: `${100 * left}%`, width: `${100 * width}%`, top: `${row * ROW}px` }}
            onClick={() => { setAt(node); props.press(node); }}
            onMouseEnter={() => props.tell(node)} onFocus={() => { setAt(node); props.tell(node); }}>
            {width > 0.012 && <span>{name}</span>}
          </div>
        );
      })}
    </div>
  );
}
