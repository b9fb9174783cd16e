import { useId, useMemo } from "preact/hooks";
import type { Curve, Profile } from "./data.ts";
import { hitClass } from "./find.ts";
import { stroke } from "./gesture.ts";
import { Help } from "./Help.tsx";
import { pathsOfKey, point } from "./reveal.ts";
import { changes } from "./state.ts";
import { Table } from "./Table.tsx";
import { cycles, decimal, number, percent } from "./text.ts";
import { change, signed } from "./whatif.ts";

const WIDTH = 120;
const HEIGHT = 26;
const DEADLOCK = "deadlock";

/** What other memories, hosts, teams and loops would make of a run of threads, or other processes and channels of a network; each by itself. */
export function Curves(props: { shown: Profile }) {
  const { shown } = props;
  const curves = shown.critical!.curves;
  const [given] = changes.value;
  const curve = given && curves.find((one) => one.definition === given[0]);
  return (
    <>
      <p class="first" data-part="whatif" role="status">
        {curve ? <Told shown={shown} curve={curve} value={given![1]} /> : `Move a slider to predict the cycles with another ${shown.network ? "latency, interval or depth" : "memory, host, team or loop"}.`}
      </p>
      <Table part="curves" kind="curves" caption="What if? Each change by itself" heads={[
        ["what"], ["what if it were …", "barcell"], ["the run takes, from", "n"], ["over the values"], ["to"],
      ]}>
        {curves.map((one) => {
          const keys = shown.critical!.keys.filter((key) => key.definition === one.definition);
          const paths = new Set(keys.flatMap((key) => pathsOfKey(shown, key)));
          return (
            <tr class={hitClass(one.name)}>
              <th scope="row">{keys.length ? <button type="button" class="link" onClick={() => point(one.name, paths)}>{one.name}</button> : one.name}</th>
              <td class="barcell"><CurveSlider shown={shown} curve={one} /></td>
              <td class="n whole"><At curve={one} at={0} /></td>
              <td><Line shown={shown} curve={one} /></td>
              <td class="whole"><At curve={one} at={one.values.length - 1} /></td>
            </tr>
          );
        })}
      </Table>
      <Help title="All values">
        <dl class="values" data-part="curve-values">
          {curves.map((one) => (
            <div>
              <dt>{one.name}, {now(one)} in the run</dt>
              {one.values.map((value, at) => <dd class={value === one.now ? "whole now" : "whole"}><At curve={one} at={at} /></dd>)}
            </div>
          ))}
        </dl>
      </Help>
    </>
  );
}

/** The cycles of the run with a value. */
function At(props: { curve: Curve; at: number }) {
  const { values, totals } = props.curve;
  const total = totals[props.at]!;
  return <><small>{number(values[props.at]!)}:</small> {total === null ? DEADLOCK : number(total)}</>;
}

/** What comes of the change that is made, and the command that says the same. */
function Told(props: { shown: Profile; curve: Curve; value: number }) {
  const { shown, curve, value } = props;
  const total = totalOf(shown, curve, value);
  const by = total === null ? null : total - shown.cycles;
  return (
    <>
      What if {curve.name} = {number(value)} instead of {now(curve)}: <b data-part="whatif-cycles">{total === null ? DEADLOCK : cycles(total)}</b>
      {by === null ? "" : by ? `, ${signed(by)} (${percent(Math.abs(by), shown.cycles)})` : ", as many as it took"}.{" "}
      <code class="command" data-part="whatif-command">cyclescope whatif RUN.cyc '{curve.name} = {value}'</code>{" "}
      <button type="button" onClick={() => (changes.value = new Map())}>Take back</button>
    </>
  );
}

/** A slider over the values of a curve, and what comes of the one that it is at. */
export function CurveSlider(props: { shown: Profile; curve: Curve }) {
  const { shown, curve } = props;
  const { name, values, definition } = curve;
  const given = changes.value.get(definition);
  const total = given === undefined ? shown.cycles : totalOf(shown, curve, given);
  const at = given === undefined ? nearest(values, curve.now) : values.indexOf(given);
  const stops = useId();
  return (
    <span class="whatif">
      <datalist id={stops}>{values.map((_, stop) => <option value={stop} />)}</datalist>
      <input type="range" list={stops} min={0} max={values.length - 1} step={1} value={at} aria-label={`What if: ${name}`}
        aria-valuetext={given === undefined ? `as it was, ${now(curve)}` : `${number(given)}: ${total === null ? DEADLOCK : `the run takes ${cycles(total)}`}`}
        onInput={(event) => stroke("word", () => change(definition, values[Number(event.currentTarget.value)]!))} />
      <span class="told">
        {given === undefined ? <>{now(curve)}, as it was</> : (
          <>{number(given)}: {total === null ? DEADLOCK : total === shown.cycles ? "no change" : <small class={total > shown.cycles ? "more" : "less"}>{signed(total - shown.cycles)}</small>}</>
        )}
      </span>
      {given !== undefined && <button type="button" aria-label={`${name} as it was`} onClick={() => change(definition, null)}>×</button>}
    </span>
  );
}

/** The cycles of the run over the values, from 0; the run as it was is a dot, the chosen value a ring. */
function Line(props: { shown: Profile; curve: Curve }) {
  const { shown, curve } = props;
  const { values, totals } = curve;
  const given = changes.value.get(curve.definition);
  const { x, y, line } = useMemo(() => {
    const [least, most] = [Math.min(values[0]!, curve.now), Math.max(values.at(-1)!, curve.now)];
    const highest = Math.max(...totals.map((total) => total ?? 0), shown.cycles);
    const across = (value: number): number => 4 + ((WIDTH - 8) * (value - least)) / (most - least || 1);
    const up = (total: number): number => HEIGHT - 3 - ((HEIGHT - 7) * total) / (highest || 1);
    return { x: across, y: up, line: values.flatMap((value, at) => (totals[at] === null ? [] : `${across(value).toFixed(1)},${up(totals[at]!).toFixed(1)}`)).join(" ") };
  }, [curve, shown]);
  return (
    <svg class="curve" width={WIDTH} height={HEIGHT} aria-hidden="true">
      <line class="rule" x1={0} x2={WIDTH} y1={HEIGHT - 3} y2={HEIGHT - 3} />
      <polyline points={line} />
      {values.map((value, at) => totals[at] !== null && <circle class="stop" cx={x(value)} cy={y(totals[at]!)} r={1.5} />)}
      <circle class="was" cx={x(curve.now)} cy={y(shown.cycles)} r={2.5} />
      {given !== undefined && totalOf(shown, curve, given) !== null && <circle class="chosen" cx={x(given)} cy={y(totalOf(shown, curve, given)!)} r={3.5} />}
    </svg>
  );
}

/** The cycles of the run with a value; null for a standstill. */
function totalOf(shown: Profile, { values, totals }: Curve, value: number): number | null {
  const total = totals[values.indexOf(value)];
  return total === undefined ? shown.cycles : total;
}

/** The place of the value that is nearest to a number. */
function nearest(values: number[], number: number): number {
  return values.reduce((best, value, at) => (Math.abs(value - number) < Math.abs(values[best]! - number) ? at : best), 0);
}

function now({ now }: Curve): string {
  return Number.isInteger(now) ? number(now) : decimal(now);
}
