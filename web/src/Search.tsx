import { useEffect, useRef } from "preact/hooks";
import { found } from "./find.ts";
import { stroke } from "./gesture.ts";
import { go, goToLine, point } from "./reveal.ts";
import { countedCycles, find, profile } from "./state.ts";
import { cycles, kindName, number, percent } from "./text.ts";

const FRAMES = 8;
const LINES = 5;
const COUNTERS = 4;

/** The one search of the page, and what it finds in all views. */
export function Search() {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const slash = (event: KeyboardEvent): void => {
      const inField = event.target instanceof HTMLElement && event.target.matches("input, select, textarea");
      if (event.key !== "/" || inField || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      field.current?.focus();
    };
    document.addEventListener("keydown", slash);
    return () => document.removeEventListener("keydown", slash);
  }, []);
  const hits = found.value;
  const first = (): void => {
    const [frame] = hits?.frames ?? [];
    const [line] = hits?.lines ?? [];
    if (frame) point(profile.value.frames[frame.frame]!.name, frame.paths);
    else if (line) goToLine("", line.file, line.line);
    field.current?.blur();
  };
  return (
    <div class="find" role="search">
      <label>
        <span class="word">Search </span><input type="search" ref={field} value={find.value} placeholder="name, text, expression  ( / )"
          onInput={(e) => stroke("word", () => (find.value = e.currentTarget.value))}
          onKeyDown={(event) => {
            if (event.key === "Enter") first();
            else if (event.key !== "Escape") return;
            else {
              find.value = "";
              field.current?.blur();
            }
            event.preventDefault();
          }} />
      </label>
      {hits && <Hits />}
    </div>
  );
}

/** What is found: the places with most cycles, lines, counters; the views mark all of them. */
function Hits() {
  const shown = profile.value;
  const { frames, lines, series } = found.value!;
  const leave = (): void => (document.activeElement as HTMLElement | null)?.blur();
  return (
    <div class="hits" data-part="hits" role="region" aria-label="Search results" aria-live="polite">
      <p class="note" data-part="hit-count">
        {number(frames.length)} {frames.length === 1 ? "place" : "places"}, {number(lines.length)} {lines.length === 1 ? "line" : "lines"},{" "}
        {number(series.length)} {series.length === 1 ? "counter" : "counters"}
      </p>
      <ul>
        {frames.slice(0, FRAMES).map(({ frame, instance, paths, cycles: active }) => (
          <li>
            <button type="button" class="link" onClick={() => { point(shown.frames[frame]!.name, paths); leave(); }}>{shown.frames[frame]!.name}</button>{" "}
            <span class="dim">{shown.instances[instance]} · {cycles(active)} ({percent(active, countedCycles.value)})</span>
          </li>
        ))}
        {frames.length > FRAMES && <li class="dim">and {number(frames.length - FRAMES)} more {kindName("place")}</li>}
        {lines.slice(0, LINES).map(({ file, line, text }) => (
          <li>
            <button type="button" class="link" onClick={() => { goToLine("", file, line); leave(); }}>{file}:{line}</button> <code class="dim">{text.trim()}</code>
          </li>
        ))}
        {lines.length > LINES && <li class="dim">and {number(lines.length - LINES)} more lines</li>}
        {series.slice(0, COUNTERS).map((one) => (
          <li>
            {one.path >= 0 ? (
              <button type="button" class="link" onClick={() => { point(shown.frames[shown.frame[one.path]!]!.name, [one.path]); go("timeline"); }}>{one.name}</button>
            ) : one.name}{" "}
            <span class="dim">counter of {one.track}</span>
          </li>
        ))}
        {series.length > COUNTERS && <li class="dim">and {number(series.length - COUNTERS)} more counters</li>}
      </ul>
    </div>
  );
}
