import { useMemo } from "preact/hooks";
import { figuresOf, leverageText, slackText } from "./critical.ts";
import { Curves, CurveSlider } from "./Curves.tsx";
import type { Profile } from "./data.ts";
import { stroke } from "./gesture.ts";
import { Help } from "./Help.tsx";
import { hitClass } from "./find.ts";
import { LineLink } from "./LineLink.tsx";
import { pressed } from "./press.ts";
import { pathsOfKey, point } from "./reveal.ts";
import { changes, profile } from "./state.ts";
import { isPointed } from "./Summary.tsx";
import { type Head, Table } from "./Table.tsx";
import { cycles, decimal, number, percent } from "./text.ts";
import { WholeRun } from "./WholeRun.tsx";
import { change, changedCycles, curveOf, cyclesWith, signed } from "./whatif.ts";

const ROWS = 6;

/** What decides how long the run takes, and what if it took another time. */
export function CriticalView() {
  const shown = profile.value;
  const { critical } = shown;
  const rows = useMemo(() => [...(critical?.keys ?? [])].sort((a, b) => b.critical - a.critical || b.total - a.total), [critical]);
  const [first] = rows;
  if (!critical || !first) return null;
  const heads: Head[] = [
    ["critical", "n"], ["share", "n"], ["slack", "n"], ["leverage", "n"], ["times", "n"], ["each", "n"], ["name"], ["instance"], ["line"],
    ...(critical.graph ? [["what if each took … cycles", "barcell"] satisfies Head] : []),
  ];
  const places = rows.filter((one) => one.critical > 0).length;
  return (
    <section id="critical" aria-labelledby="critical-title">
      <h2 id="critical-title">Critical path</h2>
      <WholeRun what="The critical path" />
      <p class="gist">
        <b>{shown.frames[first.frame]!.name}</b>{first.instance && ` in ${first.instance}`} has most of the path that decides the run:{" "}
        {number(first.critical)} of {cycles(shown.cycles)} ({percent(first.critical, shown.cycles)}).
      </p>
      {critical.graph && <Changed shown={shown} />}
      <Table part="critical" kind="critical" caption={`Own cycles on the path that decides the run: of ${number(places)} places together ${cycles(shown.cycles)}`} heads={heads}>
        {rows.slice(0, ROWS).map((one) => {
          const { name, positions } = shown.frames[one.frame]!;
          const at = positions[0];
          const paths = pathsOfKey(shown, one);
          const press = (): void => point(name, paths);
          return (
            <tr class={`${isPointed(paths) ? "pointed press" : "press"}${hitClass(name)}`} onClick={pressed(press)}>
              <td class="n"><span class="meter heat" style={{ width: `${(100 * one.critical) / (first.critical || 1)}%` }} />{number(one.critical)}</td>
              <td class="n">{percent(one.critical, shown.cycles)}</td>
              <td class="n">{slackText(figuresOf([one])!)}</td>
              <td class="n">{leverageText(figuresOf([one])!)}</td>
              <td class="n">{number(one.times)}</td>
              <td class="n">{decimal(one.total / (one.times || 1))}</td>
              <td><button type="button" class="link" onClick={press}>{name}</button></td>
              <td class="dim">{one.instance}</td>
              <td class="whole">{at && <LineLink {...at} />}</td>
              {critical.graph && <td class="barcell"><WhatIf definition={one.definition} /></td>}
            </tr>
          );
        })}
        {rows.length > ROWS && <tr><td class="dim" colSpan={heads.length}>and {number(rows.length - ROWS)} more: the tables and the source have the figures of all</td></tr>}
      </Table>
      {critical.curves.length > 0 && <Curves shown={shown} />}
      <Help>
        <p>
          Where several things run side by side, the path goes through the one that ends last; what is over early waits. <b>Critical</b>:
          own cycles on that path; they add up to the run. <b>Slack</b>: so many cycles could each activation take more, and the run would
          take as long. <b>Leverage</b>: cycles of the run for each cycle of it: 100 % if nothing hides it, 0 % if something beside it takes at
          least as long.{critical.path && " On the timeline the path is a lane."}
        </p>
        {critical.graph ? (
          <p>
            Move a slider, and the page times the run anew from the graph of its activations, without simulating: the same branches, as many
            iterations, other lengths. A group's slider is of all places that enable it. Several changes count together. <code>cyclescope
            whatif --check</code> simulates them.
          </p>
        ) : critical.curves.length > 0 ? (
          <p>
            What if: each change by itself, at values that were timed anew when the page was made. <code>cyclescope whatif</code> takes any
            value and several changes together, and with <code>--check</code> simulates {shown.network ? "them" : "memories, hosts and teams"}.
            {shown.network ? " A network can come to a standstill with a change: a deadlock." : " Of a loop all executions in all threads take the value."}
          </p>
        ) : (
          <p><code>cyclescope whatif</code> times such a run anew with other lengths.</p>
        )}
      </Help>
    </section>
  );
}

/** The run as all sliders together have it. */
function Changed(props: { shown: Profile }) {
  const { shown } = props;
  const now = changedCycles.value;
  const by = now - shown.cycles;
  return (
    <p class="first" data-part="whatif" role="status">
      {changes.value.size ? (
        <>
          What if: <b data-part="whatif-cycles">{cycles(now)}</b>, {by ? `${by > 0 ? "+" : "−"}${number(Math.abs(by))} (${percent(Math.abs(by), shown.cycles)})` : "as many as it took"}{" "}
          with {number(changes.value.size)} {changes.value.size === 1 ? "change" : "changes"}.{" "}
          <button type="button" onClick={() => (changes.value = new Map())}>Take back</button>
        </>
      ) : "Move a slider to predict the cycles with another latency."}
    </p>
  );
}

/** A slider for the cycles of each activation of a definition, and what comes of that alone. */
export function WhatIf(props: { definition: number }) {
  const { definition } = props;
  const shown = profile.value;
  const curve = curveOf(shown, definition);
  return curve ? <CurveSlider shown={shown} curve={curve} /> : <GraphSlider definition={definition} shown={shown} />;
}

function GraphSlider(props: { definition: number; shown: Profile }) {
  const { definition, shown } = props;
  const keys = shown.critical!.keys.filter((one) => one.definition === definition);
  const times = keys.reduce((sum, one) => sum + one.times, 0);
  const average = keys.reduce((sum, one) => sum + one.total, 0) / (times || 1);
  const given = changes.value.get(definition);
  const alone = useMemo(
    () => (given === undefined ? shown.cycles : cyclesWith(shown, new Map([[definition, given]]))), [shown, definition, given],
  );
  const { name } = shown.frames[keys[0]!.frame]!;
  const most = Math.max(8, Math.ceil(2 * average));
  return (
    <span class="whatif">
      <input type="range" min={0} max={most} step={1} value={given ?? Math.round(average)} aria-label={`What if ${name} took so many cycles each time`}
        aria-valuetext={given === undefined ? `as it was, ${decimal(average)} on average` : `${number(given)}: the run takes ${cycles(alone)}`}
        onInput={(event) => stroke("word", () => change(definition, Number(event.currentTarget.value)))} />
      <span class="told">{given === undefined ? "as it was" : <>{number(given)}: {alone === shown.cycles ? "no change" : <small class={alone > shown.cycles ? "more" : "less"}>{signed(alone - shown.cycles)}</small>}</>}</span>
      {given !== undefined && <button type="button" aria-label={`${name} as it was`} onClick={() => change(definition, null)}>×</button>}
    </span>
  );
}
