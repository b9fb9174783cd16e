import { useMemo } from "preact/hooks";
import { best } from "./Advice.tsx";
import type { Profile } from "./data.ts";
import { type Span, type Stall, classCycles, hottest, stalls, verdict, worked } from "./derive.ts";
import { Help } from "./Help.tsx";
import { counted, countedCycles, focus, point, profile, selection, weights } from "./state.ts";
import { Table } from "./Table.tsx";
import { className, cycles, duration, number, percent } from "./text.ts";

export function Summary() {
  const shown = profile.value;
  const total = countedCycles.value;
  const classes = classCycles(shown, counted.value);
  const { per } = shown.classes;
  const unit = shown.classes.of ? "thread-cycles" : "cycles";
  const waiting = useMemo(() => waited(shown, counted.value), [shown, counted.value]);
  const hot = hottest(shown, weights.value, 8);
  return (
    <section id="summary" aria-labelledby="summary-title">
      <h1 id="summary-title">
        <span data-part="total">{number(total)}</span> {total === 1 ? "cycle" : "cycles"}{" "}
        <span class="what">{shown.title}</span>
        {shown.periodPs !== null && (
          <span class="what"> {duration(total * shown.periodPs)} at {duration(shown.periodPs)} a cycle</span>
        )}
      </h1>
      {selection.value && <p class="note">of a run of {cycles(shown.cycles)}</p>}
      {!shown.complete && (
        <p class="warn" role="alert">
          INCOMPLETE: the run was stopped before its end{shown.stopReason && ` (${shown.stopReason})`};
          all figures are of the cycles so far.
        </p>
      )}
      {shown.anomalies.filter((anomaly) => anomaly.severity !== "info").map((anomaly) => (
        <p class="warn">
          {anomaly.severity.toUpperCase()}: {anomaly.name} × {number(anomaly.count)}
          {anomaly.detail && `: ${anomaly.detail}`}
        </p>
      ))}
      <p class="gist">{gist(shown.classes.names, classes, total * per, unit)}{waiting && ` ${waiting}`}</p>
      {shown.advice.length > 0 && <p class="first"><a href="#advice">What to change</a> first: {best(shown)}</p>}
      <ClassBar names={shown.classes.names} cycles={classes} total={total * per} />
      <div class="columns">
        <Table part="classes" kind="classes" heads={[[shown.classes.of ? "state" : "class"], [unit, "n"], ["share", "n"]]}
          caption={
            shown.classes.of
              ? `Where ${number(total)} cycles of ${number(per)} threads go: each is in one state in every cycle`
              : "Where the cycles go: every cycle is in one class"
          }>
          {shown.classes.names.map((name, index) =>
            classes[index] || name === "useful" || name === "running" ? (
              <tr>
                <th scope="row"><i class={`swatch c-${name}`} />{className(name)}</th>
                <td class="n" data-class={name}>{number(classes[index])}</td>
                <td class="n">{percent(classes[index], total * per)}</td>
              </tr>
            ) : null,
          )}
        </Table>
        <Table part="hottest" kind="hot" caption={`Hottest paths: ${unit} at their very end (what runs in parallel counts each time)`}
          heads={[["cycles", "n"], ["share", "n"], ["what"], ["line"], ["path"]]}>
          {hot.map((one) => {
            const frame = shown.frames[one.frame];
            const names = [one.instance, ...one.stack];
            const at = frame.positions[0];
            const lost = verdict(shown, one.paths[0]!);
            const label = names.join(" › ");
            return (
              <tr class={focus.value?.label === label ? "pointed" : ""}>
                <td class="n">{number(one.cycles)}</td>
                <td class="n">{percent(one.cycles, total * per)}</td>
                <td class="whole"><i class={swatch(frame.kind, lost)} />{lost}</td>
                <td class="place">{at && `${at.file}:${at.line}`}</td>
                <td>
                  <button type="button" class="link" onClick={() => point(label, one.paths)}>
                    {names.slice(0, -1).map((name) => <span class="dim">{name} › </span>)}
                    <b>{names[names.length - 1]}</b>
                  </button>
                </td>
              </tr>
            );
          })}
        </Table>
      </div>
      <Stalls />
      <Help>
        {shown.classes.of && (
          <p>
            This run has threads. Each is in one state in every cycle: <b>running</b>; <b>critical</b>: it holds a lock, so
            that others may have to wait; <b>spinning</b>: it waits for a lock; <b>idle</b>. The states' cycles add up to cycles
            times threads. While a thread runs it may still be stalled: by what and where, the lists above say; a line's are in the source, too.
          </p>
        )}
        <p>
          A cycle is <b>useful</b> if something that does work (a group, a primitive, a process) was active
          at the end of some call path. Every other cycle is lost, and is named after what moved in it:{" "}
          <b>FSM update</b>: a block stepped from one state to the next; <b>par-done update</b>: an arm
          of a <code>par</code> finished; <b>other control</b>: control was active and moved nothing, as when it waits.
          The classes exclude each other and add up to the total.
        </p>
        <p>
          Ask first whether the useful share is small, then which loss is largest. Much FSM update: steps that
          could be static. Much par-done: <code>par</code>s whose arms exclude each other, or are very short.
          A control block among the hottest paths is overhead of that very block. Press a path to point it out in
          all views.
        </p>
      </Help>
    </section>
  );
}

/** The answer in a sentence. */
function gist(names: string[], counts: Float64Array, total: number, unit: string): string {
  const losses = names.map((name, index) => ({ name, count: counts[index]! })).filter(({ name }) => !worked(name));
  const lost = losses.reduce((sum, { count }) => sum + count, 0);
  if (!total) return "";
  if (!lost) return unit === "cycles" ? "In every cycle something did work." : "All threads ran all the time.";
  const most = losses.reduce((a, b) => (b.count > a.count ? b : a));
  const which = most.count === lost ? "all of them" : `most of them (${percent(most.count, lost)})`;
  return `${number(lost)} ${unit} (${percent(lost, total)}) did no work; ${which}: ${className(most.name)}.`;
}

/** Threads that run may wait all the same: for what most. */
function waited(profile: Profile, span: Span): string {
  const most = stalls(profile, span).find((one) => !one.line && one.name.startsWith("stalls: "));
  const all = (span.to - span.from) * profile.classes.per;
  if (!most || most.cycles * 100 < all) return "";
  const what = most.name.slice("stalls: ".length);
  return `Threads waited for ${what} in ${number(most.cycles)} (${percent(most.cycles, all)}).`;
}

function swatch(kind: string, lost: string): string {
  return `swatch ${lost === "work" || lost === "overhead" ? `k-${kind}` : `c-${lost}`}`;
}

function Stalls() {
  const shown = profile.value;
  const span = counted.value;
  const found = useMemo(() => stalls(shown, span), [shown, span]);
  const all = countedCycles.value * shown.classes.per;
  if (!found.length) return null;
  const causes = found.filter((one) => !one.line);
  const places = found.filter((one) => one.line).slice(0, 12);
  const about = found.some((one) => !one.exact);
  return (
    <div class="columns stalls">
      <Waits part="stalls" title="What threads waited for" head="cause" rows={causes} all={all} />
      {places.length > 0 && (
        <Waits part="places" title="Where they waited (these cycles are in their causes')" head="place" rows={places} all={all} />
      )}
      {about && (
        <p class="note">
          ≈ Counters are sampled: of samples that the selection cuts, the share that is inside counts.
        </p>
      )}
    </div>
  );
}

function Waits(props: { part: string; title: string; head: string; rows: Stall[]; all: number }) {
  return (
    <Table part={props.part} caption={props.title} heads={[["thread-cycles", "n"], ["share", "n"], [props.head]]}>
      {props.rows.map((one) => (
        <tr>
          <td class="n">
            <span class="meter heat" style={{ width: `${(100 * one.cycles) / (props.all || 1)}%` }} />
            {one.exact ? "" : "≈ "}{number(one.cycles)}
          </td>
          <td class="n">{percent(one.cycles, props.all)}</td>
          <td>
            {one.line ? <>{one.cause}, <a href={`#line-${one.line}`}>line {one.line}</a></> : one.name}
          </td>
        </tr>
      ))}
    </Table>
  );
}

/** The classes as one bar; the table beside it says the same to those who cannot see it. */
export function ClassBar(props: {
  names: string[];
  cycles: ArrayLike<number>;
  total: number;
}) {
  return (
    <div class="bar" aria-hidden="true">
      {props.names.map((name, index) => (
        <span
          class={`c-${name}`}
          style={{ width: `${(100 * props.cycles[index]!) / (props.total || 1)}%` }}
          title={`${className(name)}: ${number(props.cycles[index]!)}`}
        />
      ))}
    </div>
  );
}
