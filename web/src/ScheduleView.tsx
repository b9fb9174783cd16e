/** The schedule of a loop: its operations in the stages of an iteration, what bounds the initiation interval, where threads waited. */

import { useMemo } from "preact/hooks";
import { unitsIn } from "./account.ts";
import type { Bound, Graph, Profile } from "./data.ts";
import { hitClass } from "./find.ts";
import { Help } from "./Help.tsx";
import { LineLink } from "./LineLink.tsx";
import { pressedByKey } from "./press.ts";
import { isSame, pathsOfFrame, pathsOfLine, point } from "./reveal.ts";
import { type Placed, hottest, named, placed, spentIn } from "./schedule.ts";
import { counted, focus, profile, scheduled, weights } from "./state.ts";
import { cycles, fitting, number, percent } from "./text.ts";

const TEXT = 330; // pixels of what an operation is
const WAITED = 160; // and behind it of how long was waited
const BEHIND = 12;
const ROW = 20;
const [HEAD, STALLS] = [26, 40]; // above the rows: numbers of stages, bars
const GRID = 560; // that the stages would like to have
const [NARROWEST, WIDEST] = [11, 44];
const LETTER = 6.7;

export function ScheduleView() {
  const shown = profile.value;
  const counts = weights.value;
  const spent = useMemo(() => (shown.schedules.length ? spentIn(shown, counts) : new Float64Array()), [shown, counts]);
  if (!shown.schedules.length) return null;
  const at = scheduled.value in shown.schedules ? scheduled.value : hottest(spent);
  const graph = shown.schedules[at]!;
  const total = unitsIn(shown, counted.value);
  return (
    <section id="schedule" aria-labelledby="schedule-title">
      <h2 id="schedule-title">Schedule</h2>
      <div class="tools" role="group" aria-label="Loop">
        {shown.schedules.map((one, index) => (
          <button type="button" aria-pressed={index === at} data-part="loop" onClick={() => choose(shown, index)}>
            {"\u2007".repeat(depth(shown, index))}{titleOf(shown, one)} <small>{percent(spent[index]!, total)}</small>
          </button>
        ))}
      </div>
      <Interval shown={shown} graph={graph} />
      <Picture shown={shown} graph={graph} total={total} />
      <p class="legend">
        <span><i class="stage" />operation</span>
        <span><i class="stage logic" />logic inside a stage</span>
        <span><i class="stage limits" />bounds the initiation interval</span>
        <span><i class="stage waits" />variable latency: memory, lock, inner loop</span>
        <span><i class="line dashed" />next iteration of the same thread</span>
      </p>
      <Help>
        <p>
          Each row is an operation, from its first stage to the last one before its result; the operations that use the result are
          below it. A stage is one cycle of an iteration that never stalls. In a <b>striped</b> stage an iteration waits and other threads
          overtake it: the bars at the top and the figures beside the operations count the {shown.account.unit} lost there, in the
          selected cycles. A thread that waits for several things counts at each.
        </p>
        <p>
          Each functional unit exists once and serves all threads, one operation a cycle: other threads fill the stages that
          the initiation interval leaves empty. The share beside a loop's name counts the {shown.account.unit} spent in it and in no inner loop;
          parallel loops each count. Click an operation to highlight its line in all views, an inner loop to see its schedule.
        </p>
      </Help>
    </section>
  );
}

/** Show a loop's schedule, and highlight it in the other views. */
function choose(shown: Profile, index: number): void {
  const { frame } = shown.schedules[index]!;
  const paths = pathsOfFrame(shown, frame);
  if (paths.length && !(focus.value && paths.every((path) => focus.value!.paths.has(path)))) point(titleOf(shown, shown.schedules[index]!), paths);
  scheduled.value = index;
}

function depth(shown: Profile, index: number): number {
  const { parent } = shown.schedules[index]!;
  return parent < 0 ? 0 : 1 + depth(shown, parent);
}

function titleOf(shown: Profile, graph: Graph): string {
  return graph.frame < 0 ? `${graph.function}, outside of loops` : `loop ${shown.frames[graph.frame]!.name}`;
}

function Interval(props: { shown: Profile; graph: Graph }) {
  const { shown, graph } = props;
  const { position, interval, apart, serial } = graph;
  const least = Math.max(apart ?? 0, interval ?? 0);
  const told = [...new Map(graph.bounds.map((bound) => [wordsOf(graph, bound), bound])).entries()];
  return (
    <>
      <p class="gist" data-part="interval">
        <b>{titleOf(shown, graph)}</b>{position && <> (<LineLink {...position} />)</>}: {interval === null
          ? <>{number(graph.stages)} stages, once for each thread.</>
          : <>an iteration has {number(graph.stages)} stages; a thread begins the next one {least > 1 ? <>{cycles(least)} later at the soonest</> : <>in the next cycle, if nothing is waited for</>}.</>}
      </p>
      {(told.length > 0 || serial.length > 0) && (
        <ul class="bounds" data-part="bounds">
          {told.map(([words, bound]) => (
            <li class={bound.interval === interval ? "limits" : ""}>
              <b>{cycles(bound.interval)}</b>: {words}{bound.position && <> (<LineLink {...bound.position} />)</>}
            </li>
          ))}
          {serial.length > 0 && (
            <li>The next iteration starts when this one has left {stagesOf(serial)}, so waits there add up.</li>
          )}
        </ul>
      )}
    </>
  );
}

/** A reason for an interval as text. */
function wordsOf(graph: Graph, { limit, name, operations, distance, ports, interval }: Bound): string {
  const parts = operations.map((index) => graph.operations[index]!);
  if (limit === "ports") return `accesses of ${name} share its ${ports} ports`;
  if (limit === "order") {
    const later = distance > 1 ? `${distance} iterations on` : "of the next iteration";
    return `${name}: ${parts[0]?.name ?? "an access"} comes before ${parts[1]?.name ?? "one"} ${later}`;
  }
  const way = parts.map(({ unit, name: what, stages }) => (stages ? `${unit || what} ${stages}` : what)).join(" + ");
  const rest = interval - parts.reduce((sum, { stages }) => sum + stages, 0);
  return `recurrence: ${name} is computed from what it was in the iteration before: ${way || "a register"}${way && rest > 0 ? `, and ${rest} to the next iteration` : ""}`;
}

function stagesOf(stages: number[]): string {
  const last = stages.at(-1);
  return stages.length > 1 ? `stages ${stages.slice(0, -1).join(", ")} and ${last}` : `stage ${last}`;
}

function Picture(props: { shown: Profile; graph: Graph; total: number }) {
  const { shown, graph, total } = props;
  const rows = placed(shown, graph, counted.value);
  const gutter = TEXT + (rows.some(({ operation }) => operation.series.length) ? WAITED : 0);
  const step = Math.max(NARROWEST, Math.min(WIDEST, Math.floor(GRID / graph.stages)));
  const x = (stage: number): number => gutter + stage * step;
  const at = new Map(rows.map((row, place) => [row.index, place]));
  const waiting = new Map<number, number>();
  for (const row of rows) if (row.operation.waits) waiting.set(row.from, Math.max(waiting.get(row.from) ?? 0, row.waited));
  const most = Math.max(...waiting.values(), 0);
  const head = HEAD + (most ? STALLS : 0);
  const y = (row: number): number => head + row * ROW;
  const [width, height] = [x(graph.stages) + BEHIND, y(rows.length) + 8];
  const label = step >= 20 ? 1 : 5;
  const next: number[] = [];
  if (graph.interval !== null && graph.interval > 1) for (let stage = graph.interval; stage < graph.stages; stage += graph.interval) next.push(stage);
  return (
    <div class="schedule" tabIndex={0} role="region" aria-label="Operations in stages">
      <svg viewBox={`0 0 ${width} ${height}`} style={{ width: `${width}px` }} role="group" aria-label="Schedule" data-part="schedule">
        <defs>
          <pattern id="striped" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
            <rect width="3" height="6" class="stripe" />
          </pattern>
        </defs>
        {[...waiting].map(([stage, cycles]) => (
          <>
            <rect x={x(stage)} y={head} width={step} height={height - head} fill="url(#striped)" />
            {cycles > 0 && <rect x={x(stage)} y={head - 18 - (28 * cycles) / most} width={step} height={(28 * cycles) / most} class="stall"><title>{`stage ${stage}: ${number(cycles)} ${shown.account.unit} waited`}</title></rect>}
          </>
        ))}
        {[...Array(graph.stages + 1).keys()].filter((stage) => stage % label === 0 || stage === graph.stages).map((stage) => (
          <>
            <line x1={x(stage)} x2={x(stage)} y1={head - 4} y2={height} class="rule" />
            {stage < graph.stages && <text x={x(stage) + step / 2} y={head - 6} class="number">{stage}</text>}
          </>
        ))}
        <text x={gutter - 8} y={head - 6} class="end">stage</text>
        {most > 0 && <text x={gutter - 8} y={head - 24} class="end">waited</text>}
        {rows.map((row, place) => row.operation.after.map((before) => (
          <Flow from={rows[at.get(before)!]!} fromRow={at.get(before)!} to={row} toRow={place} x={x} y={y} />
        )))}
        {next.map((stage) => <line x1={x(stage)} x2={x(stage)} y1={head - 4} y2={height} class="next" />)}
        {rows.map((row, place) => <Row shown={shown} row={row} y={y(place)} x={x} width={width} total={total} />)}
      </svg>
    </div>
  );
}

/** A value on its way from the operation that gives it to one that uses it. */
function Flow(props: { from: Placed; fromRow: number; to: Placed; toRow: number; x: (stage: number) => number; y: (row: number) => number }) {
  const { from, fromRow, to, toRow, x, y } = props;
  const step = x(1) - x(0);
  const begin = from.operation.stages ? x(from.to) : x(from.from) + 0.6 * step;
  const end = x(to.from) + (to.operation.stages ? 0 : 0.4 * step);
  const [y1, y2] = [y(fromRow + 0.5), y(toRow + 0.5)];
  const limits = from.limits && to.limits;
  return <path d={`M${begin},${y1} C${begin + 0.5 * step},${y1} ${end - 0.5 * step},${y2} ${end},${y2}`} class={limits ? "flow limits" : "flow"} />;
}

function Row(props: { shown: Profile; row: Placed; y: number; x: (stage: number) => number; width: number; total: number }) {
  const { shown, row, y, x, width, total } = props;
  const { operation, from, to } = row;
  const { position } = operation;
  const marked = isSame(focus.value?.line, position);
  const step = x(1) - x(0);
  const press = (): void => {
    if (operation.graph >= 0) choose(shown, operation.graph);
    else if (position) point(`${position.file}:${position.line}`, pathsOfLine(shown, position), position);
  };
  const what = named(operation);
  const lasting = operation.stages > 0 || operation.waits;
  const kind = `bit${lasting ? "" : " logic"}${operation.waits ? " waits" : ""}${row.limits ? " limits" : ""}`;
  const waited = operation.series.length ? `${row.exact ? "" : "\u2248 "}${number(row.waited)} (${percent(row.waited, total)})` : "";
  const lasts = operation.waits ? `waits in stage ${from}` : operation.stages ? `stages ${from} to ${to - 1}` : `logic in stage ${from}`;
  const bits = operation.bits === null ? "" : `, ${operation.bits} bits`;
  const title = `${what}${position ? `, line ${position.line}` : ""}: ${lasts}${bits}${row.limits ? ", bounds the initiation interval" : ""}${waited && `, waited ${waited}`}${operation.text && `\n${operation.text}`}`;
  const room = Math.max(4, Math.floor((TEXT - 50 - LETTER * (what.length + 2)) / LETTER));
  return (
    <g class={`operation${marked ? " pointed" : ""}${hitClass(what, operation.text)}`} role="button" tabindex={0} aria-pressed={marked} onClick={press}
      onKeyDown={pressedByKey(press)}>
      <title>{title}</title>
      <rect x={0} y={y} width={width} height={ROW} class="ground" />
      <text x={32} y={y + 14} class="number end">{position?.line ?? ""}</text>
      <text x={42} y={y + 14}><tspan class="what">{what}</tspan> <tspan class="dim">{fitting(operation.text, room)}</tspan></text>
      <rect {...(lasting ? { x: x(from), y: y + 4, width: (to - from) * step - 1, height: ROW - 8 } : { x: x(from) + 0.1 * step, y: y + 6, width: 0.8 * step, height: ROW - 12 })}
        rx={2} class={kind} />
      {waited && <text x={x(0) - 8} y={y + 14} class="waited">{waited}</text>}
    </g>
  );
}
