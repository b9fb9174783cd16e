import { batch } from "@preact/signals";
import { useMemo, useState } from "preact/hooks";
import { matcher } from "./find.ts";
import { point } from "./reveal.ts";
import { hasSplits, trackKind } from "./account.ts";
import { Boxes, nameOf, useOfBox } from "./Boxes.tsx";
import type { Profile } from "./data.ts";
import { type Flame, NARROWEST, type Node, boxesOf, keyOf, layOut, search } from "./flame.ts";
import { Help } from "./Help.tsx";
import { KindLegend, Legend } from "./Legend.tsx";
import { type FlameChoice, counted, countedCycles, flame, flameZoom, focus, profile, weights } from "./state.ts";
import { capital, cycles, decimal, inUnit, kindName, number, percent } from "./text.ts";
import { drawnFlame } from "./tracks.ts";

export function FlameView() {
  const run = profile.value;
  const tracked = run.stacks !== null;
  const { scaled, hideGenerated, bottomUp, rootOnTop, merged, byUse } = flame.value;
  const zoom = flameZoom.value;
  const set = (choice: Partial<FlameChoice>): void => { flame.value = { ...flame.value, ...choice }; };
  const [told, setTold] = useState<Node | null>(null);
  const counts = weights.value;
  const { profile: shown, graph, uses: ofPaths, total } = useMemo(
    () => drawnFlame(run, counted.value, counts, { scaled, hideGenerated, bottomUp, merged }),
    [run, counts, scaled, hideGenerated, bottomUp, merged],
  );
  const zoomed = useMemo(() => graph.nodes.find((node) => keyOf(node) === zoom) ?? graph.root, [graph, zoom]);
  const layout = useMemo(() => layOut(graph, zoomed, NARROWEST), [graph, zoomed]);
  const matches = matcher.value;
  const found = useMemo(
    () => (matches ? search(graph, (node) => matches(shown.frames[node.frame]!.name)) : null),
    [graph, matches],
  );
  const marked = useMemo(() => (focus.value ? boxesOf(graph, run.parent, focus.value.paths) : null), [graph, focus.value]);
  const anyGenerated = shown.frames.some((frame) => frame.generated);
  const drawn = graph.root.total / graph.unit;
  const uses = new Set(layout.boxes.flatMap(({ node }) => useOfBox(shown, ofPaths, node) ?? []));
  const kinds = new Set(layout.boxes.flatMap(({ node }) => shown.frames[node.frame]?.kind ?? []));
  return (
    <section id="flame" aria-labelledby="flame-title">
      <h2 id="flame-title">Flame graph</h2>
      <div class="tools">
        {!tracked && <Choice label="Width" value={scaled} options={[[true, "scaled"], [false, "flat"]]} choose={(value) => set({ scaled: value })} />}
        <Choice label="Order" value={bottomUp} options={[[false, "callers first"], [true, "inverted"]]}
          choose={(value) => { set({ bottomUp: value }); flameZoom.value = ""; }} />
        <Choice label="Root" value={rootOnTop} options={[[false, "below"], [true, "on top"]]} choose={(value) => set({ rootOnTop: value })} />
        {run.stacks?.apart && (
          <Choice label={capital(kindName(trackKind(run)))} value={merged} options={[[true, "merged"], [false, "apart"]]} choose={(value) => set({ merged: value })} />
        )}
        <Choice label="Colour" value={byUse} options={[[true, "what for"], [false, "kind"]]} choose={(value) => set({ byUse: value })} />
        {anyGenerated && (
          <label><input type="checkbox" checked={hideGenerated} onChange={(e) => set({ hideGenerated: e.currentTarget.checked })} /> hide generated groups</label>
        )}
        <output data-part="found">
          {found && `found: ${number(found.found.size)} ${found.found.size === 1 ? "box" : "boxes"}, ${percent(found.weight, graph.root.total)}`}
        </output>
        <button type="button" data-part="reset" disabled={zoomed === graph.root} onClick={() => (flameZoom.value = "")}>Reset zoom</button>
      </div>
      <p class="note" data-part="flame-total">
        {tracked
          ? `Width = ${run.account.unit}; at the end of a stack, what they were for. Together ${inUnit(drawn, run.account.unit)}.`
          : scaled
          ? `Width = cycles; a cycle is split evenly among what runs in parallel, so widths add up to ${cycles(drawn)}.`
          : `Width = cycles of every stack, in parallel or not: together ${number(drawn)} for ${cycles(countedCycles.value)}.`}
      </p>
      {byUse ? <Legend uses={shown.uses.filter((use) => uses.has(use))} /> : <KindLegend profile={shown} kinds={kinds} />}
      <Boxes
        profile={shown} graph={graph} zoomed={zoomed} boxes={layout.boxes} rows={layout.depth} rootOnTop={rootOnTop}
        found={found?.found ?? null} pointed={marked} uses={byUse ? ofPaths : null} label="Call paths by cycles" tell={setTold} total={total}
        press={(node) => {
          batch(() => {
            flameZoom.value = node === graph.root ? "" : keyOf(node);
            const marked = focus.value !== null && node.paths.length > 0 && node.paths.every((path) => focus.value!.paths.has(path));
            if (node.frame >= 0 && node !== graph.root && !marked) point(nameOf(shown, node), node.paths);
          });
        }}
        back={() => (flameZoom.value = "")}
      />
      <p class="details" data-part="details">{about(shown, graph, told ?? zoomed, total, scaled && !tracked)}</p>
      {layout.leftOut > 0 && <p class="note">Not drawn: {number(layout.leftOut)} boxes too narrow to see; zoom in to see them.</p>}
      <Help>
        <p>
          Each box is on top of its caller; its width is cycles. Where nothing is above a box, it called
          nothing.{" "}
          {tracked
            ? `The last box of each stack of calls and loops says what the ${run.account.unit} there were for; the one before it is the place in the source, where that is known. Colours say the same.`
            : byUse
            ? "A box's colour says what its own cycles are for; what always calls something has none."
            : "Above a control block or a cell, that is the box's own overhead: look first for wide ones with nothing above."}
          {hasSplits(run) && ` Of work and waiting counters tell how much was which in each of their samples; in a sample it is divided among the places of its ${kindName(trackKind(run))} in proportion.`}
        </p>
        <p>
          {!tracked && <><b>Scaled</b>: three things at once get a third of a cycle each, so widths add up to the run. <b>Flat</b>: each gets the whole cycle. </>}
          <b>Inverted</b>: what was at the end of the stacks comes first, its callers on it;
          that gathers what is called from many places.{" "}
          {run.stacks?.apart && <><b>Merged</b>: a box is that of all {kindName(trackKind(run))}; <b>apart</b>: each has its own. </>}
          Click a box to zoom and to highlight it on the timeline; arrow keys move, Enter zooms, Escape goes back.
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

function about(profile: Profile, graph: Flame, node: Node, total: number, scaled: boolean): string {
  const weight = node.total / graph.unit;
  const parts = [nameOf(profile, node)];
  const frame = profile.frames[node.frame];
  if (frame) {
    const inside = node.paths.length && !profile.stacks ? ` in ${profile.instances[profile.instance[node.paths[0]!]!]}` : "";
    parts.push(`${frame.kind}${frame.detail && frame.kind === "control" ? ` (${frame.detail})` : ""}${inside}${frame.generated ? ", made by the compiler" : ""}`);
    if (frame.positions.length) parts.push(frame.positions.map((at) => `${at.file}:${at.line}`).join(", "));
  }
  if (node.active) parts.push(`active ${decimal(node.active)} of ${inUnit(total, profile.account.unit)} (${percent(node.active, total)})`);
  if (scaled || !node.active) parts.push(`width: ${decimal(weight)} (${percent(node.total, graph.root.total)})`);
  if (node.own && node.own !== node.total) parts.push(`own cycles: ${decimal(node.own / graph.unit)}`);
  return parts.join(" · ");
}
