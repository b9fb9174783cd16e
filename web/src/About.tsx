import { profile } from "./state.ts";
import { number } from "./text.ts";

export function About() {
  const shown = profile.value;
  const lists: [string, [string, string][]][] = [
    ["Tools", shown.tools],
    ["Options", shown.options],
    ["Inputs (SHA-256)", shown.inputs],
  ];
  return (
    <section id="about" aria-labelledby="about-title">
      <h2 id="about-title">About this profile</h2>
      <p>
        Measured by <code>{shown.source}</code>: {number(shown.cycles)} cycles, {number(shown.runs.what.length)} runs
        of {number(shown.treeStart.length - 1)} distinct call trees, {number(shown.series.length)} counters.
      </p>
      {lists.filter(([, items]) => items.length).map(([title, items]) => (
        <>
          <h3>{title}</h3>
          <dl>{items.map(([name, value]) => <div><dt>{name}</dt><dd><code>{value || "–"}</code></dd></div>)}</dl>
        </>
      ))}
      {shown.anomalies.length > 0 && (
        <>
          <h3>Met on the way</h3>
          <ul>
            {shown.anomalies.map((one) => (
              <li>{one.severity}: {one.name} × {number(one.count)}{one.detail && `: ${one.detail}`}</li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}
