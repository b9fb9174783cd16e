import { useEffect, useRef } from "preact/hooks";
import { About } from "./About.tsx";
import { Advice } from "./Advice.tsx";
import { CriticalView } from "./CriticalView.tsx";
import { Compare } from "./Compare.tsx";
import { FlameView } from "./FlameView.tsx";
import { Ladder } from "./Ladder.tsx";
import { NetworkView } from "./NetworkView.tsx";
import { ScheduleView } from "./ScheduleView.tsx";
import { SourceView } from "./SourceView.tsx";
import { Place } from "./Place.tsx";
import { go } from "./reveal.ts";
import { useHeight } from "./height.ts";
import { Search } from "./Search.tsx";
import { choose, current, find, focus, profile, profiles, select, selection, whole } from "./state.ts";
import { Summary } from "./Summary.tsx";
import { TableView } from "./TableView.tsx";
import { number } from "./text.ts";
import { ThemeButton } from "./Theme.tsx";
import { Timeline } from "./Timeline.tsx";

export function App() {
  useEffect(() => {
    const reset = (event: KeyboardEvent): void => {
      if (event.key !== "Escape" || event.defaultPrevented) return;
      if (focus.value) focus.value = null;
      else if (find.value) find.value = "";
      else select(null);
    };
    // Links inside the page keep what its address says.
    const follow = (event: MouseEvent): void => {
      const link = event.target instanceof Element ? event.target.closest('a[href^="#"]') : null;
      if (!link || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
      event.preventDefault();
      go(link.getAttribute("href")!.slice(1));
    };
    document.addEventListener("keydown", reset);
    document.addEventListener("click", follow);
    return () => {
      document.removeEventListener("keydown", reset);
      document.removeEventListener("click", follow);
    };
  }, []);
  const head = useRef<HTMLElement>(null);
  useHeight(head, "--head", true);
  const several = profiles.value.length > 1;
  return (
    <>
      <a class="skip" href="#summary">Skip to the summary</a>
      <header ref={head}>
        <span class="brand">cyclescope</span>
        {several ? <Chooser /> : <span class="one">{profiles.value[0]!.name}</span>}
        <nav aria-label="Views">
          {several && <a href="#compare">Compare</a>}
          <a href="#summary">Summary</a>
          {profile.value.network && <a href="#network">Network</a>}
          {profile.value.advice.length > 0 && <a href="#advice">What to change</a>}
          {profile.value.critical && <a href="#critical">Critical path</a>}
          {profile.value.ladder.length > 0 && <a href="#ladder">Ladder</a>}
          {profile.value.schedules.length > 0 && <a href="#schedule">Schedule</a>}
          <a href="#timeline">Timeline</a>
          <a href="#flame">Flame graph</a>
          <a href="#tables">Tables</a>
          <a href="#source">Source</a>
          <a href="#about">About</a>
        </nav>
        <Search />
        <ThemeButton />
      </header>
      <Chosen />
      <main>
        {several && <Compare />}
        {/* A profile's views keep what they remember of it to themselves. */}
        <div class="views" key={current.value}>
          <Summary />
          <NetworkView />
          <Advice />
          <CriticalView />
          <Ladder />
          <ScheduleView />
          <Timeline />
          <FlameView />
          <TableView />
          <SourceView />
          <About />
        </div>
      </main>
      <Place />
    </>
  );
}

function Chooser() {
  return (
    <div class="chooser" role="group" aria-label="Profile">
      {profiles.value.map((profile, index) => (
        <button type="button" aria-pressed={index === current.value} onClick={() => choose(index)}>
          {profile.name}
        </button>
      ))}
    </div>
  );
}

/** What narrows the views down, where it can be seen from everywhere. */
function Chosen() {
  const span = selection.value;
  const pointed = focus.value;
  return (
    <div class="chosen" role="status" data-part="chosen">
      {span && (
        <span class="chip">
          range: cycles {number(span.from)}–{number(span.to - 1)}, {number(span.to - span.from)}{" "}
          of {number(whole.value.to)}{" "}
          <button type="button" onClick={() => select(null)}>all cycles</button>
        </span>
      )}
      {pointed && (
        <span class="chip point">
          highlighted: <span class="clipped" title={pointed.label}>{pointed.label}</span>{" "}
          <button type="button" onClick={() => (focus.value = null)}>Clear</button>
        </span>
      )}
    </div>
  );
}
