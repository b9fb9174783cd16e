import type { Rung } from "./data.ts";
import { Help } from "./Help.tsx";
import { profile } from "./state.ts";
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
  const { ladder, cycles } = profile.value;
  if (!ladder.length) return null;
  const steps = climb(ladder);
  const most = Math.max(1, ...steps.map((step) => Math.max(step.from, step.to)));
  const largest = steps.filter((step) => step.due !== null).reduce<Step | null>(
    (best, step) => (best && best.to - best.from >= step.to - step.from ? best : step), null,
  );
  return (
    <section id="ladder" aria-labelledby="ladder-title">
      <h2 id="ladder-title">From the bounds to the hardware</h2>
      {largest && largest.to > largest.from && (
        <p class="gist">
          Of {number(cycles)} cycles the largest part is {largest.name}: {number(largest.to - largest.from)} ({percent(largest.to - largest.from, cycles)}).
        </p>
      )}
      <div class="wide">
        <table class="ladder" data-part="ladder">
          <caption>Each rung (bold) is the one above it and the gaps between them, exactly; the last one is the run</caption>
          <thead>
            <tr>
              <th scope="col">rung, gap</th><th scope="col" class="n">cycles</th><th scope="col" class="n">of the run</th>
              <th scope="col" class="barcell">to scale</th><th scope="col">what it is</th>
            </tr>
          </thead>
          <tbody>
            {steps.map((step) => (
              <tr class={step.due === null ? "rung" : "step"}>
                <th scope="row">{step.due !== null && <i class={`swatch l-${step.due || "program"}`} />}{step.name}</th>
                <td class="n">{step.due === null ? number(step.to) : signed(step.to - step.from)}</td>
                <td class="n">{step.due === null ? "" : share(step.to - step.from, cycles)}</td>
                <td class="barcell"><Bar step={step} most={most} /></td>
                <td class="dim">{step.about}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
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

function climb(ladder: Rung[]): Step[] {
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
    <span class="climb" aria-hidden="true">
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
