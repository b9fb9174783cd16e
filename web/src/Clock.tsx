import type { Clock as Reached, PathStep } from "./data.ts";
import { LineLink } from "./LineLink.tsx";
import { Table } from "./Table.tsx";
import { duration, number, percent } from "./text.ts";

/** The clock that the design reaches, and the path that decides it. */
export function Clock(props: { clock: Reached }) {
  const { clock } = props;
  const period = clock.path.reduce((sum, step) => sum + step.delayPs, 0);
  const wires = clock.path.reduce((sum, step) => sum + (step.kind === "wire" ? step.delayPs : 0), 0);
  const first = clock.path[0]!;
  const last = clock.path[clock.path.length - 1]!;
  let until = 0;
  return (
    <div data-part="clock">
      <p class="first">
        Reaches <b>{(1e6 / period).toFixed(1)} MHz</b> ({duration(period)}; {clock.device}). Its longest path is from{" "}
        <Place step={first} /> to <Place step={last} />: {percent(period - wires, period)} logic, {percent(wires, period)} wires.
      </p>
      <details>
        <summary>The longest path, step by step</summary>
        <Table part="path" caption="The delays add up to the clock's period"
          heads={[["ps", "n"], ["until", "n"], ["share", "n"], ["step"], ["cell"], ["part"], ["line"], ["net"]]}>
          {clock.path.map((step) => {
            until += step.delayPs;
            return (
              <tr>
                <td class="n">{number(step.delayPs)}</td>
                <td class="n">{number(until)}</td>
                <td class="n">{percent(step.delayPs, period)}</td>
                <td>{step.kind}</td>
                <td>{step.cell}</td>
                <td>{step.part}</td>
                <td class="whole">{step.line > 0 && <Line step={step} />}</td>
                <td>{step.net}</td>
              </tr>
            );
          })}
        </Table>
      </details>
    </div>
  );
}

function Place(props: { step: PathStep }) {
  const { step } = props;
  if (!step.line) return <>{step.part}</>;
  return <>{step.part !== "operation" && `${step.part} of `}<Line step={step} /></>;
}

function Line(props: { step: PathStep }) {
  const { level, file, line } = props.step;
  return <LineLink level={level} file={file} line={line} />;
}
