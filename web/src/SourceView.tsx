import { useEffect, useMemo, useRef } from "preact/hooks";
import { trackKind, unitsIn } from "./account.ts";
import { type LineCycles, type Stall, lineCycles, stalls } from "./derive.ts";
import { Help } from "./Help.tsx";
import { figuresOf, keysOf, leverageText, slackText } from "./critical.ts";
import type { CriticalKey, Profile } from "./data.ts";
import { matcher } from "./find.ts";
import { pressed } from "./press.ts";
import { point, withLines } from "./reveal.ts";
import { counted, focus, profile, sourceFile, sourceLevel, weights } from "./state.ts";
import { type Head, Table } from "./Table.tsx";
import { kindName, number, percent } from "./text.ts";

interface Shown {
  line: number;
  text: string | null;
  cycles: LineCycles | null;
  waits: Stall[];
}

export function SourceView() {
  const shown = profile.value;
  const level = shown.levels.includes(sourceLevel.value) ? sourceLevel.value : (shown.levels[0] ?? "");
  const counts = weights.value;
  const files = useMemo(() => lineCycles(shown, counts, level), [shown, counts, level]);
  const span = counted.value;
  const places = useMemo(() => stalls(shown, span).filter((one) => one.site?.level === level), [shown, span, level]);
  const wanted = focus.value?.line ?? null;
  const pointed = useMemo(() => (focus.value ? withLines(shown, focus.value.paths, level) : null), [shown, focus.value, level]);
  const names = [...new Set([...files.keys(), ...places.flatMap((one) => one.site?.file ?? []), ...shown.sources.map((one) => one.file)])];
  const matches = matcher.value;
  const box = useRef<HTMLElement>(null);
  const file = names.includes(sourceFile.value) ? sourceFile.value : (names[0] ?? "");
  // The line that is highlighted, or the first that is found, is brought into view, unless one is there.
  useEffect(() => {
    const scroller = box.current?.querySelector(".code");
    if (!scroller) return;
    const frame = scroller.getBoundingClientRect();
    const head = scroller.querySelector("thead")!.getBoundingClientRect().height;
    const marked = [...scroller.querySelectorAll(focus.value ? "tr.pointed" : "tr.hit")];
    const seen = marked.some((row) => {
      const { top, bottom } = row.getBoundingClientRect();
      return top >= frame.top + head && bottom <= frame.bottom;
    });
    if (!marked.length || seen) return;
    scroller.scrollTop += marked[0]!.getBoundingClientRect().top - frame.top - scroller.clientHeight / 3;
  }, [shown, focus.value, matches, file, level]);
  if (!shown.levels.length) {
    return (
      <section id="source" aria-labelledby="source-title">
        <h2 id="source-title">Source</h2>
        <p class="note">This profile has no source lines.</p>
      </section>
    );
  }
  const text = shown.sources.find((source) => source.file === file);
  const waits = places.filter((one) => one.site?.file === file);
  const isWanted = (line: number): boolean => wanted?.file === file && wanted.line === line;
  const lines = merge(files.get(file) ?? [], text?.parts ?? [], waits, wanted?.file === file ? wanted.line : 0);
  const isFound = (one: Shown): boolean =>
    matches !== null && (matches(one.text ?? "") || matches(`${file}:${one.line}`) || (one.cycles?.frames.some((frame) => matches(shown.frames[frame]!.name)) ?? false));
  const hits = matches ? lines.filter(isFound).length : 0;
  const elsewhere = matches
    ? shown.sources.flatMap((source) => {
        const count = source.file === file ? 0 : source.parts.reduce((sum, [, texts]) => sum + texts.filter(matches).length, 0);
        return count ? [{ file: source.file, count }] : [];
      })
    : [];
  const all = unitsIn(shown, span);
  const heads: Head[] = [
    [shown.account.unit, "n"], ["share", "n"], ["not at work", "n"],
    ...(waits.length ? [["waiting", "n"] satisfies Head] : []),
    ...(shown.critical ? [["critical", "n"], ["slack", "n"], ["leverage", "n"]] satisfies Head[] : []),
    ["line", "n"], ["text"],
  ];
  return (
    <section id="source" aria-labelledby="source-title" ref={box}>
      <h2 id="source-title">Source</h2>
      <div class="tools">
        {shown.levels.length > 1 && (
          <label>Level <select value={level} onChange={(e) => (sourceLevel.value = e.currentTarget.value)}>
            {shown.levels.map((one) => <option value={one}>{one}</option>)}
          </select></label>
        )}
        <label>File <select value={file} onChange={(e) => (sourceFile.value = e.currentTarget.value)}>
          {names.map((one) => <option value={one}>{one}</option>)}
        </select></label>
        {matches && <span class="note" data-part="found-lines">found in {number(hits)} {hits === 1 ? "line" : "lines"}</span>}
        {elsewhere.map((one) => (
          <button type="button" class="link" onClick={() => (sourceFile.value = one.file)}>{number(one.count)} in {one.file}</button>
        ))}
        {!text && <span class="note">The text is not in this report (see --embed-source); what each line declares is shown instead.</span>}
      </div>
      <Table part="lines" caption="Cycles beside each line" label={`Cycles of the lines of ${file}`} heads={heads}>
        {lines.map((one, index) => {
          const here = one.cycles;
          const gap = index > 0 && lines[index - 1]!.line + 1 !== one.line;
          const press = (): void => { if (here?.paths.length) point(`${file}:${one.line}`, here.paths, { level, file, line: one.line }); };
          const frames = here?.frames.map((frame) => shown.frames[frame]!.name).join(", ");
          return (
            <tr id={`line-${one.line}`} onClick={pressed(press)}
              class={`${gap ? "gap " : ""}${here?.paths.length ? "press " : ""}${isFound(one) ? "hit " : ""}${isWanted(one.line) || here?.paths.some((path) => pointed?.has(path)) ? "pointed" : ""}`}>
              <td class="n" data-line={one.line}>
                {here && <span class="meter heat" style={{ width: `${(100 * here.active) / (all || 1)}%` }} />}
                {here && number(here.active)}
              </td>
              <td class="n">{here && percent(here.active, all)}</td>
              <td class="n">{here && here.active > here.useful ? number(here.active - here.useful) : ""}</td>
              {waits.length > 0 && <Waiting waits={one.waits} total={all} />}
              {shown.critical && <CriticalCells keys={here ? keysOfLine(shown, here) : []} />}
              <td class="n">
                {here?.paths.length ? (
                  <button type="button" class="link" title={frames} onClick={press}>{one.line}</button>
                ) : (
                  one.line
                )}
              </td>
              <td><code>{one.text ?? ""}</code>{one.text === null && <span class="dim">{frames}</span>}</td>
            </tr>
          );
        })}
      </Table>
      <Help>
        <p>
          Beside each line: the cycles in which something from this line was active, their share, and those of
          them in which neither it nor its callees did work (<b>not at work</b>). Lines overlap (a block is active while what it
          contains is), so the column does not add up to the run.{" "}
          {shown.account.tracks.length > 0 && <>Each of the {number(shown.account.tracks.length)} {kindName(trackKind(shown))} counts for itself. </>}
          {shown.critical && <><b>Critical</b> are own cycles on the path that decides the run, <b>slack</b> and <b>leverage</b> the least and the
          greatest of what the line has, all of the whole run. </>}
          {waits.length > 0 && <><b>Waiting</b> is for what and how long the line waits; who waits in several places at once counts in each. Counters tell it apart from the line's work: it is not among what is not at work. </>}
          Click a line's number to highlight it in all views.
        </p>
      </Help>
    </section>
  );
}

/** What the blocks of a line mean for the run's length. */
function CriticalCells(props: { keys: CriticalKey[] }) {
  const found = figuresOf(props.keys);
  return (
    <>
      <td class="n">{found && found.critical > 0 && number(found.critical)}</td>
      <td class="n">{found && slackText(found)}</td>
      <td class="n">{found && leverageText(found)}</td>
    </>
  );
}

function keysOfLine(shown: Profile, line: LineCycles): CriticalKey[] {
  const here = line.paths.flatMap((path) => keysOf(shown, shown.frame[path]!, shown.instances[shown.instance[path]!]!));
  return [...new Set(here)];
}

/** What was waited for in a line, maybe for several things at once: there is no sum. */
function Waiting(props: { waits: Stall[]; total: number }) {
  return (
    <td class="n waits">
      {props.waits.map((one) => (
        <div>
          <span class="meter stall" style={{ width: `${(100 * one.cycles) / (props.total || 1)}%` }} />
          {one.exact ? "" : "≈ "}{number(one.cycles)} <small>{one.name}{one.cause && one.cause !== one.name && `: ${one.cause}`}</small>
        </div>
      ))}
    </td>
  );
}

/** Lines of text, lines with cycles and lines with waiting, by number. */
function merge(counted: LineCycles[], parts: [number, string[]][], waits: Stall[], wanted: number): Shown[] {
  const lines = new Map<number, Shown>();
  for (const [first, texts] of parts) {
    texts.forEach((text, index) => lines.set(first + index, { line: first + index, text, cycles: null, waits: [] }));
  }
  const at = (line: number): Shown => {
    const one = lines.get(line) ?? { line, text: null, cycles: null, waits: [] };
    lines.set(line, one);
    return one;
  };
  for (const one of counted) at(one.line).cycles = one;
  for (const one of waits) if (one.site?.line) at(one.site.line).waits.push(one);
  if (wanted) at(wanted);
  return [...lines.values()].sort((a, b) => a.line - b.line);
}
