import { useMemo, useRef } from "preact/hooks";
import { WhatIf } from "./CriticalView.tsx";
import { figuresOf, keysOfPaths, leverageText, slackText } from "./critical.ts";
import { type Call, callsOf } from "./calls.ts";
import type { Profile } from "./data.ts";
import { useHeight } from "./height.ts";
import { LineLink } from "./LineLink.tsx";
import { go, point } from "./reveal.ts";
import { countedCycles, focus, profile, selection, weights } from "./state.ts";
import { Table } from "./Table.tsx";
import { cycles, number, percent } from "./text.ts";
import { definitionOf } from "./whatif.ts";

const CALLS = 8;

/** What is highlighted: what it is, who calls it, what it calls, and ways to it in each view. */
export function Place() {
  const shown = profile.value;
  const at = focus.value;
  const counts = weights.value;
  const calls = useMemo(() => (at ? callsOf(shown, counts, at.paths) : null), [shown, counts, at]);
  const element = useRef<HTMLElement>(null);
  useHeight(element, "--foot", at !== null);
  if (!at || !calls) return null;
  const frames = [...new Set([...at.paths].map((path) => shown.frame[path]!))];
  const instances = [...new Set([...at.paths].map((path) => shown.instances[shown.instance[path]!]!))];
  const one = frames.length === 1 ? shown.frames[frames[0]!]! : null;
  const lines = new Map(frames.flatMap((frame) => shown.frames[frame]!.positions.map((line) => [`${line.file}:${line.line}`, line])));
  const total = countedCycles.value;
  const keys = keysOfPaths(shown, at.paths);
  const figures = figuresOf(keys);
  const definition = definitionOf(shown, keys);
  const views: [id: string, name: string][] = [["timeline", "Timeline"], ["flame", "Flame graph"], ["tables", "Table"], ["source", "Source"]];
  return (
    <aside class="focused" ref={element} aria-label="Highlighted" data-part="focused">
      <div class="about">
        <b class="clipped" title={at.label}>{at.label}</b>{" "}
        {one && <span class="dim">{one.kind}{one.detail && ` (${one.detail})`}{instances.length === 1 && instances[0] ? ` in ${instances[0]}` : instances.length > 1 ? ` in ${number(instances.length)} instances` : ""}</span>}{" "}
        {at.paths.size > 0 && <span>active in <span data-part="focus-active">{number(calls.active)}</span> of {cycles(total)}{selection.value && " that are selected"} ({percent(calls.active, total)})</span>}{" "}
        {figures && <span data-part="focus-critical">critical {number(figures.critical)}{figures.slack !== null && `, slack ${slackText(figures)}`}{figures.leverage !== null && `, leverage ${leverageText(figures)}`}{selection.value && " (whole run)"}</span>}
        {definition !== null && <span>What if each took <WhatIf definition={definition} /></span>}
        {[...lines.values()].slice(0, 3).map((line) => <> <LineLink {...line} /></>)}
        <nav aria-label="Go to the highlighted place">
          {views.map(([id, name]) => <a href={`#${id}`} onClick={(event) => { event.preventDefault(); go(id); }}>{name}</a>)}
          <button type="button" onClick={() => (focus.value = null)}>Clear</button>
        </nav>
      </div>
      <div class="calls">
        <CallTable part="callers" caption="Called by" calls={calls.callers} shown={shown} total={calls.active} />
        <CallTable part="callees" caption="Calls" calls={calls.callees} shown={shown} total={calls.active} alone={calls.alone} />
      </div>
    </aside>
  );
}

function CallTable(props: { part: string; caption: string; calls: Call[]; shown: Profile; total: number; alone?: number }) {
  const { part, caption, calls, shown, total, alone } = props;
  return (
    <Table part={part} caption={caption} heads={[["cycles", "n"], ["share", "n"], ["name"], ["instance"]]}>
      {calls.slice(0, CALLS).map((call) => {
        const { name } = shown.frames[call.frame]!;
        return (
          <tr>
            <td class="n"><span class="meter" style={{ width: `${(100 * call.cycles) / (total || 1)}%` }} />{number(call.cycles)}</td>
            <td class="n">{percent(call.cycles, total)}</td>
            <td><button type="button" class="link" onClick={() => point(name, call.paths)}>{name}</button></td>
            <td class="dim">{shown.instances[call.instance]}</td>
          </tr>
        );
      })}
      {calls.length > CALLS && <tr><td class="dim" colSpan={4}>and {number(calls.length - CALLS)} more</td></tr>}
      {alone !== undefined && alone > 0 && (
        <tr><td class="n">{number(alone)}</td><td class="n">{percent(alone, total)}</td><td class="dim" colSpan={2}>nothing</td></tr>
      )}
      {!calls.length && !alone && <tr><td class="dim" colSpan={4}>nothing</td></tr>}
    </Table>
  );
}
