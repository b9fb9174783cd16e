import type { Profile, Rung } from "./data.ts";
import { Help } from "./Help.tsx";
import { WholeRun } from "./WholeRun.tsx";
import { choose, profile, profiles } from "./state.ts";
import { type Head, Table } from "./Table.tsx";
import { number, percent } from "./text.ts";

interface Step {
  name: string;
  /** From where to where its bar reaches. */
  from: number;
  to: number;
  about: string;
  /** Of a gap what it is due to; null for a rung. */
  due: string | null;
}

/** From the bounds to the run: rungs, and between them what the cycles rise by. */
export function Ladder() {
  const { ladder, otherBounds, cycles, source } = profile.value;
  if (!ladder.length) return null;
  const steps = stepsOf(ladder);
  const largest = steps.filter((step) => step.due !== null).reduce<Step | null>(
    (best, step) => (best && best.to - best.from >= step.to - step.from ? best : step), null,
  );
  return (
    <section id="ladder" aria-labelledby="ladder-title">
      <h2 id="ladder-title">{source === "bounds" ? "Between the bounds" : "From the bounds to the hardware"}</h2>
      <WholeRun what="The ladder" />
      {largest && largest.to > largest.from && (
        <p class="gist">
          Of {number(cycles)} cycles the largest part is {largest.name}: {number(largest.to - largest.from)} ({percent(largest.to - largest.from, cycles)}).
        </p>
      )}
      <Steps part="ladder" steps={steps} whole={cycles} of="of the run"
        caption="Each rung (bold) is the one above it and the gaps between them, exactly; the last one is the run" />
      {otherBounds.length > 0 && (
        <Steps part="other-bounds" steps={stepsOf(otherBounds)} whole={otherBounds[0]!.cycles} of="of the first"
          caption="cyclescope bounds of the same function, whose processes are statements, and what leads from there to the absolute bound above" />
      )}
      <Help>
        <p>
          Read it from the top: what no hardware of this program can beat, then what each thing that hardware has or lacks adds.
          <b> Unbounded</b> waits for values only; <b>absolute</b> has one unit for each operation. From there on the hardware itself
          is measured, first with a memory that answers at once, then with more and more of what slows it down. The largest step says
          where to begin: a recurrence wants another algorithm, control larger loop bodies or unrolling, memory latency more
          requests under way, threads a better division of the work.
        </p>
        <p>
          The order matters: a gap is what its thing adds to those above it. An outlined bar is negative: there, things happen side
          by side that were counted one after the other.
        </p>
      </Help>
    </section>
  );
}

/** Rungs and the gaps between them, with bars to scale. */
function Steps(props: { part: string; caption: string; steps: Step[]; whole: number; of: string }) {
  const { part, caption, steps, whole, of } = props;
  const most = Math.max(1, ...steps.map((step) => Math.max(step.from, step.to)));
  return (
    <Table part={part} kind="ladder" caption={caption}
      heads={[["rung, gap"], ["cycles", "n"], [of, "n"], ["to scale", "barcell"], ["what it is"]]}>
      {steps.map((step) => (
        <tr class={step.due === null ? "rung" : "step"}>
          <th scope="row">{step.due !== null && <i class={`swatch l-${step.due || "program"}`} />}{step.name}</th>
          <td class="n">{step.due === null ? number(step.to) : signed(step.to - step.from)}</td>
          <td class="n">{step.due === null ? "" : share(step.to - step.from, whole)}</td>
          <td class="barcell"><Bar step={step} most={most} /></td>
          <td class="dim">{step.about}</td>
        </tr>
      ))}
    </Table>
  );
}

const DUE: [string, string][] = [
  ["program", "the program"], ["control", "control"], ["memory", "memory"], ["threads", "threads"],
];

/** What the cycles of a run are due to; they sum to its cycles. The lowest rung is the program's. */
export function dues(ladder: Rung[]): number[] {
  const found = new Map([["program", ladder[0]?.cycles ?? 0]]);
  for (const rung of ladder) {
    for (const gap of rung.gaps) {
      const due = gap.due || "program";
      found.set(due, (found.get(due) ?? 0) + gap.cycles);
    }
  }
  return DUE.map(([due]) => found.get(due) ?? 0);
}

/** Several runs whose bounds are known, by what their cycles are due to, on one scale. */
export function Ladders() {
  const known = profiles.value.map((one, index): [Profile, number] => [one, index]).filter(([one]) => one.ladder.length);
  if (known.length < 2) return null;
  const longest = Math.max(1, ...known.map(([one]) => one.cycles));
  return (
    <Table part="ladders" caption="Causes of the cycles, from each ladder; all bars have the same scale"
      heads={[["profile"], ...DUE.map(([due, name]): Head => [<><i class={`swatch l-${due}`} />{name}</>, "n"]), ["cycles", "barcell"]]}>
      {known.map(([one, index]) => {
        const cycles = dues(one.ladder);
        return (
          <tr>
            <th scope="row"><button type="button" class="link" onClick={() => choose(index)}>{one.name}</button></th>
            {cycles.map((count) => <td class="n">{count < 0 ? signed(count) : number(count)}</td>)}
            <td class="barcell">
              <div class="bar" aria-hidden="true">
                {cycles.map((count, at) => (
                  <span class={`l-${DUE[at]![0]}`} style={{ width: `${(100 * Math.max(count, 0)) / longest}%` }} />
                ))}
              </div>
            </td>
          </tr>
        );
      })}
    </Table>
  );
}

function stepsOf(ladder: Rung[]): Step[] {
  const steps: Step[] = [];
  let before = 0;
  for (const rung of ladder) {
    for (const gap of rung.gaps) {
      steps.push({ name: gap.name, from: before, to: before + gap.cycles, about: gap.about, due: gap.due });
      before += gap.cycles;
    }
    before = rung.cycles;
    steps.push({ name: rung.name, from: 0, to: before, about: rung.about, due: null });
  }
  return steps;
}

function Bar(props: { step: Step; most: number }) {
  const { step, most } = props;
  const low = Math.min(step.from, step.to);
  const size = Math.abs(step.to - step.from);
  const kind = step.due === null ? "l-rung" : step.to < step.from ? "l-less" : `l-${step.due || "program"}`;
  return (
    <span class="steps" aria-hidden="true">
      <span class={kind} style={{ marginLeft: `${(100 * low) / most}%`, width: `${(100 * size) / most}%` }} />
    </span>
  );
}

function signed(value: number): string {
  return value >= 0 ? `+${number(value)}` : `−${number(-value)}`;
}

function share(value: number, whole: number): string {
  return `${value < 0 ? "−" : ""}${percent(Math.abs(value), whole)}`;
}
