import { useMemo, useState } from "preact/hooks";
import { hasSplits, trackKind } from "./account.ts";
import { Boxes, keyOf, nameOf, usesOfBox } from "./Boxes.tsx";
import type { Profile } from "./data.ts";
import { usesOfOwn } from "./derive.ts";
import { type Flame, type Node, flame, layOut, search } from "./flame.ts";
import { Help } from "./Help.tsx";
import { KindLegend, Legend } from "./Legend.tsx";
import { counted, countedCycles, focus, point, profile, weights } from "./state.ts";
import { capital, cycles, decimal, kindName, number, percent } from "./text.ts";

export function FlameView() {
  const shown = profile.value;
  const [scaled, setScaled] = useState(true);
  const [hideGenerated, setHide] = useState(false);
  const [bottomUp, setBottomUp] = useState(false);
  const [rootOnTop, setRootOnTop] = useState(false);
  const [merged, setMerged] = useState(true);
  const [byUse, setByUse] = useState(shown.account.tracks.length > 0);
  const [pattern, setPattern] = useState("");
  const [zoom, setZoom] = useState<string>("");
  const [told, setTold] = useState<Node | null>(null);
  const counts = weights.value;
  const graph = useMemo(
    () => flame(shown, counts, { scaled, hideGenerated, bottomUp, merged }),
    [shown, counts, scaled, hideGenerated, bottomUp, merged],
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
  const ofPaths = useMemo(() => usesOfOwn(shown, counts, counted.value), [shown, counts]);
  const drawnUses = layout.boxes.flatMap(({ node }) => usesOfBox(shown, ofPaths, node) ?? []);
  const uses = new Set(drawnUses.flatMap(({ use, either }) => (either ? [] : [use])));
  const either = drawnUses.flatMap((one) => one.either ?? [])[0];
  const kinds = new Set(layout.boxes.flatMap(({ node }) => shown.frames[node.frame]?.kind ?? []));
  return (
    <section id="flame" aria-labelledby="flame-title">
      <h2 id="flame-title">Flame graph</h2>
      <div class="tools">
        <Choice label="Width" value={scaled} options={[[true, "scaled"], [false, "flat"]]} choose={setScaled} />
        <Choice label="Order" value={bottomUp} options={[[false, "callers first"], [true, "inverted"]]}
          choose={(value) => { setBottomUp(value); setZoom(""); }} />
        <Choice label="Root" value={rootOnTop} options={[[false, "below"], [true, "on top"]]} choose={setRootOnTop} />
        {shown.team && (
          <Choice label={capital(kindName(trackKind(shown)))} value={merged} options={[[true, "merged"], [false, "apart"]]} choose={setMerged} />
        )}
        <Choice label="Colour" value={byUse} options={[[true, "what for"], [false, "kind"]]} choose={setByUse} />
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
      {byUse ? <Legend uses={shown.uses.filter((use) => uses.has(use))} either={either} /> : <KindLegend profile={shown} kinds={kinds} />}
      <Boxes
        profile={shown} graph={graph} zoomed={zoomed} boxes={layout.boxes} rows={layout.depth} rootOnTop={rootOnTop}
        found={found?.found ?? null} pointed={focus.value?.paths ?? null} uses={byUse ? ofPaths : null} label="Call paths by cycles" tell={setTold} total={total}
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
          called nothing.{" "}
          {byUse
            ? "A box's colour says what its own cycles are for; what always calls something has none."
            : "Above a control block or a cell, that is overhead of that very box: ask first which of these are wide and bare."}
          {byUse && hasSplits(shown) && ` What is striped is work or waiting: counters tell how much was which, as wide as the stripes are, for each of the ${kindName(trackKind(shown))} as a whole (see the summary), not for a box.`}
        </p>
        <p>
          <b>Scaled</b>: three things at once get a third of a cycle each, so widths add up to the run. <b>Flat</b>:
          each gets the whole cycle. <b>Inverted</b>: what was at the end of the stacks comes first, its callers on it;
          that gathers what is called from many places.{" "}
          {shown.team && <><b>Merged</b>: the {kindName(trackKind(shown))} run one program, and are one box; <b>apart</b>: each has its own. </>}
          Press a box to zoom and to highlight it on the timeline; arrow keys move, Enter zooms, Escape goes back.
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

function about(profile: Profile, graph: Flame, node: Node, total: number, scaled: boolean): string {
  const weight = node.total / graph.unit;
  const parts = [nameOf(profile, node)];
  const frame = profile.frames[node.frame];
  if (frame) {
    const inside = !node.team && node.paths.length ? ` in ${profile.instances[profile.instance[node.paths[0]!]!]}` : "";
    parts.push(`${frame.kind}${frame.detail && frame.kind === "control" ? ` (${frame.detail})` : ""}${inside}${frame.generated ? ", made by the compiler" : ""}`);
    if (frame.positions.length) parts.push(frame.positions.map((at) => `${at.file}:${at.line}`).join(", "));
  }
  if (node.active) parts.push(`active ${number(node.active)} of ${number(total)} cycles (${percent(node.active, total)})`);
  if (scaled || !node.active) parts.push(`its width: ${decimal(weight)} (${percent(node.total, graph.root.total)})`);
  if (node.own && node.own !== node.total) parts.push(`calling nothing: ${decimal(node.own / graph.unit)}`);
  return parts.join(" · ");
}
