import { classCycles, hottest } from "./derive.ts";
import { Help } from "./Help.tsx";
import { counted, countedCycles, focus, point, profile, selection, weights } from "./state.ts";
import { className, cycles, duration, number, percent } from "./text.ts";

export function Summary() {
  const shown = profile.value;
  const total = countedCycles.value;
  const classes = classCycles(shown, counted.value);
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
      <p class="gist">{gist(shown.classes.names, classes, total)}</p>
      <ClassBar names={shown.classes.names} cycles={classes} total={total} />
      <div class="columns">
        <table class="classes" data-part="classes">
          <caption>Where the cycles go: every cycle is in one class</caption>
          <thead>
            <tr><th scope="col">class</th><th scope="col" class="n">cycles</th><th scope="col" class="n">share</th></tr>
          </thead>
          <tbody>
            {shown.classes.names.map((name, index) =>
              classes[index] || name === "useful" ? (
                <tr>
                  <th scope="row"><i class={`swatch c-${name}`} />{className(name)}</th>
                  <td class="n" data-class={name}>{number(classes[index])}</td>
                  <td class="n">{percent(classes[index], total)}</td>
                </tr>
              ) : null,
            )}
          </tbody>
        </table>
        <table class="hot" data-part="hottest">
          <caption>Hottest paths: cycles at their very end (what runs in parallel counts each time)</caption>
          <thead>
            <tr>
              <th scope="col" class="n">cycles</th><th scope="col" class="n">share</th>
              <th scope="col">what</th><th scope="col">line</th><th scope="col">path</th>
            </tr>
          </thead>
          <tbody>
            {hot.map((one) => {
              const frame = shown.frames[one.frame];
              const names = [one.instance, ...one.stack];
              const at = frame.positions[0];
              const label = names.join(" › ");
              return (
                <tr class={focus.value?.label === label ? "pointed" : ""}>
                  <td class="n">{number(one.cycles)}</td>
                  <td class="n">{percent(one.cycles, total)}</td>
                  <td class="whole"><i class={`swatch k-${frame.kind}`} />{LOSES.has(frame.kind) ? "overhead" : "work"}</td>
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
          </tbody>
        </table>
      </div>
      <Help>
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
function gist(names: string[], counts: Float64Array, total: number): string {
  const useful = counts[names.indexOf("useful")]!;
  const lost = total - useful;
  if (!lost) return "In every cycle something did work.";
  const losses = names.map((name, index) => ({ name, count: counts[index]! })).filter(({ name }) => name !== "useful");
  const most = losses.reduce((a, b) => (b.count > a.count ? b : a));
  const which = most.count === lost ? "all of them" : `most of them (${percent(most.count, lost)})`;
  return `${number(lost)} cycles (${percent(lost, total)}) did no work; ${which}: ${className(most.name)}.`;
}

const LOSES = new Set(["cell", "control", "thread"]);

/** The classes as one bar; the table beside it says the same to those who cannot see it. */
export function ClassBar(props: {
  names: string[];
  cycles: ArrayLike<number>;
  total: number;
  scale?: number;
}) {
  const of = props.scale ?? props.total;
  return (
    <div class="bar" aria-hidden="true">
      {props.names.map((name, index) => (
        <span
          class={`c-${name}`}
          style={{ width: `${(100 * props.cycles[index]!) / (of || 1)}%` }}
          title={`${className(name)}: ${number(props.cycles[index]!)}`}
        />
      ))}
    </div>
  );
}
