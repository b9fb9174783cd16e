import { useMemo, useState } from "preact/hooks";
import { type Figures, figuresOf, keysOf, leverageText, slackText } from "./critical.ts";
import { matcher } from "./find.ts";
import { LineLink } from "./LineLink.tsx";
import { pressed } from "./press.ts";
import { point } from "./reveal.ts";
import type { Position, Profile, TableRow } from "./data.ts";
import { activeCycles } from "./derive.ts";
import { Help } from "./Help.tsx";
import { countedCycles, focus, order, profile, selection, table, weights } from "./state.ts";
import { decimal, kindName, number, percent } from "./text.ts";

interface Column {
  title: string;
  numeric: boolean;
  /** Of the whole run even while only some cycles are counted. */
  wholeRun?: boolean;
  value: (row: Counted) => number | string;
  text: (row: Counted, total: number) => string;
}

interface Counted extends TableRow {
  figures: Figures | null;
  now: number;
  paths: number[];
  name: string;
  place: string;
  line: Position | null;
}

const CRITICAL = ["critical", "slack", "leverage"];
const AREA = ["LUT", "FF", "DSP", "BRAM"];
const COLUMNS: Column[] = [
  { title: "cycles", numeric: true, value: (row) => row.now, text: (row) => number(row.now) },
  { title: "share", numeric: true, value: (row) => row.now, text: (row, total) => percent(row.now, total) },
  { title: "times", numeric: true, wholeRun: true, value: (row) => row.times, text: (row) => number(row.times) },
  { title: "min", numeric: true, wholeRun: true, value: (row) => row.shortest, text: (row) => (row.times ? number(row.shortest) : "") },
  { title: "max", numeric: true, wholeRun: true, value: (row) => row.longest, text: (row) => (row.times ? number(row.longest) : "") },
  { title: "average", numeric: true, wholeRun: true, value: (row) => (row.times ? row.cycles / row.times : 0), text: (row) => (row.times ? decimal(row.cycles / row.times) : "") },
  { title: "useful", numeric: true, wholeRun: true, value: (row) => (row.useful ? row.useful[0] / row.useful[1] : -1), text: (row) => (row.useful ? percent(...row.useful) : "") },
  { title: "critical", numeric: true, wholeRun: true, value: (row) => row.figures?.critical ?? -1, text: (row) => (row.figures ? number(row.figures.critical) : "") },
  { title: "slack", numeric: true, wholeRun: true, value: (row) => row.figures?.slack ?? -1, text: (row) => (row.figures ? slackText(row.figures) : "") },
  { title: "leverage", numeric: true, wholeRun: true, value: (row) => row.figures?.leverage ?? -1, text: (row) => (row.figures ? leverageText(row.figures) : "") },
  ...AREA.map((title, which): Column => ({
    title, numeric: true, wholeRun: true,
    value: (row) => row.area?.[which] ?? -1,
    text: (row) => (row.area ? number(row.area[which]!) : ""),
  })),
  { title: "static?", numeric: false, wholeRun: true, value: (row) => (row.couldBeStatic ? 0 : 1), text: (row) => (row.couldBeStatic ? "could be" : "") },
  { title: "instance", numeric: false, value: (row) => row.instance, text: (row) => row.instance },
  { title: "name", numeric: false, value: (row) => row.name, text: (row) => row.name },
  { title: "line", numeric: false, value: (row) => row.place, text: (row) => row.place },
];
const AT_ONCE = 60;

export function TableView() {
  const shown = profile.value;
  const kinds = Object.keys(shown.tables);
  const by = order.value;
  const matches = matcher.value;
  const finds = (row: Counted): boolean => !matches || matches(`${row.instance} ${row.name} ${row.place}`);
  const [all, setAll] = useState(false);
  const counts = weights.value;
  const lists = useMemo(() => new Map(kinds.map((one) => [one, count(shown, counts, one)])), [shown, counts]);
  const hits = new Map(kinds.map((one) => [one, matches ? lists.get(one)!.filter(finds).length : 0]));
  // While something is searched that is not in the table that was chosen, it is one that has it.
  const kind = (matches && !hits.get(table.value) && kinds.find((one) => hits.get(one))) || table.value;
  const rows = lists.get(kind) ?? [];
  const columns = COLUMNS.filter(
    (column) =>
      (column.title !== "useful" || rows.some((row) => row.useful)) &&
      (!AREA.includes(column.title) || rows.some((row) => row.area && row.area[AREA.indexOf(column.title)]! > 0)) &&
      (!CRITICAL.includes(column.title) || rows.some((row) => row.figures)) &&
      (column.title !== "static?" || rows.some((row) => row.couldBeStatic)),
  );
  const column = columns.find((one) => one.title === by.column) ?? columns[0]!;
  const sorted = rows
    .filter(finds)
    .map((row, index) => ({ row, index }))
    .sort((a, b) => (by.descending ? -1 : 1) * compare(column.value(a.row), column.value(b.row)) || a.index - b.index)
    .map(({ row }) => row);
  const isMarked = (row: Counted): boolean => row.paths.some((path) => focus.value?.paths.has(path));
  // What is highlighted is in the list, however far down it is.
  const listed = all ? sorted : sorted.filter((row, index) => index < AT_ONCE || isMarked(row));
  if (!kinds.length) return null;
  return (
    <section id="tables" aria-labelledby="tables-title">
      <h2 id="tables-title">Tables</h2>
      <div class="tools">
        <span class="choice" role="group" aria-label="What">
          {kinds.map((one) => (
            <button type="button" aria-pressed={one === kind} onClick={() => { table.value = one; setAll(false); }}>{kindName(one)}{matches && ` (${number(hits.get(one)!)})`}</button>
          ))}
        </span>
        {selection.value && <span class="note">cycles and share: selected cycles; the other figures: whole run</span>}
      </div>
      <div class="wide">
        <table data-part="table">
          <caption class="hidden">{kindName(kind)} by cycles active</caption>
          <thead>
            <tr>
              {columns.map((one) => (
                <th scope="col" class={one.numeric ? "n" : ""} aria-sort={one === column ? (by.descending ? "descending" : "ascending") : "none"}>
                  <button type="button" class="sort" onClick={() => (order.value = { column: one.title, descending: by.column === one.title ? !by.descending : one.numeric })}>
                    {one.title}{one === column ? (by.descending ? " ▾" : " ▴") : ""}
                  </button>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {listed.map((row) => (
              <tr class={isMarked(row) ? "pointed press" : "press"} onClick={pressed(() => row.paths.length && point(row.name, row.paths))}>
                {columns.map((one) => (
                  <td class={one.numeric ? (selection.value && one.wholeRun ? "n dim" : "n") : one.title === "line" ? "place" : one.title === "static?" ? "" : "named"}>
                    {one.title === "line" && row.line ? (
                      <LineLink {...row.line} />
                    ) : one.title === "name" && row.paths.length ? (
                      <button type="button" class="link" onClick={() => point(row.name, row.paths)}>{row.name}</button>
                    ) : one.title === "cycles" ? (
                      <>
                        <span class="meter" style={{ width: `${(100 * row.now) / (countedCycles.value || 1)}%` }} />
                        {one.text(row, countedCycles.value)}
                      </>
                    ) : (
                      one.text(row, countedCycles.value)
                    )}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {sorted.length > listed.length && (
        <button type="button" onClick={() => setAll(true)}>Show all {number(sorted.length)}</button>
      )}
      <Help>
        <p>
          One row for each instance: cycles in which it was active, how often it ran, and its shortest, longest and
          average activation. What never ran is listed with 0. While cycles are selected on the timeline, cycles and share are of
          those.{" "}
          {rows.some((row) => row.useful) && "Useful: the share of the accounted cycles that are work. "}
          {rows.some((row) => row.couldBeStatic) &&
            "Could be static: every activation took equally long; check that this is not a coincidence. "}
          {rows.some((row) => row.figures) &&
            "Critical are own cycles on the path that decides the run, slack is what each activation could take more for nothing, leverage what the run gains for each cycle less. "}
          {rows.some((row) => row.area) &&
            "LUT, FF, DSP and BRAM (in halves) are a cell's with all in it, a group's or block's with all cells that it uses, so that shared ones count for each: look for what is large and has a small share."}
        </p>
      </Help>
    </section>
  );
}

function compare(a: number | string, b: number | string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function count(profile: Profile, weights: Float64Array, kind: string): Counted[] {
  const rows = profile.tables[kind] ?? [];
  const number = new Map(rows.map((row, index) => [`${row.frame} ${row.instance}`, index]));
  const of = Int32Array.from(profile.frame, (frame, path) => {
    return number.get(`${frame} ${profile.instances[profile.instance[path]!]}`) ?? -1;
  });
  const active = activeCycles(profile, weights, of, rows.length);
  const paths: number[][] = rows.map(() => []);
  of.forEach((row, path) => row >= 0 && paths[row]!.push(path));
  return rows.map((row, index) => {
    const frame = profile.frames[row.frame]!;
    const at = frame.positions[0];
    const place = at ? `${at.file}:${at.line}` : "";
    return { ...row, now: active[index]!, paths: paths[index]!, name: frame.name, place, line: at ?? null, figures: figuresOf(keysOf(profile, row.frame, row.instance)) };
  });
}
