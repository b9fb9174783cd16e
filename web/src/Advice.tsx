import type { Profile, Saving, Site } from "./data.ts";
import { Help } from "./Help.tsx";
import { hitClass } from "./find.ts";
import { LineLink } from "./LineLink.tsx";
import { goToCycles, point } from "./reveal.ts";
import { profile } from "./state.ts";
import { isPointed } from "./Summary.tsx";
import { WholeRun } from "./WholeRun.tsx";
import { capital, cycles, number, percent } from "./text.ts";

/** What could be changed, most cycles first, with what shows it. */
export function Advice() {
  const shown = profile.value;
  if (!shown.advice.length) return null;
  return (
    <section id="advice" aria-labelledby="advice-title">
      <h2 id="advice-title">What to change</h2>
      <WholeRun what="What each change saves" />
      <ol class="advice" data-part="advice">
        {shown.advice.map((one, rank) => (
          <li class={hitClass(one.title, one.change)}>
            <details open={rank === 0}>
              <summary>
                <b>{capital(one.title)}</b>, saves {about(one.saving)} ({percent(one.saving[0], shown.cycles)}), {between(one.saving)}
              </summary>
              <p>{one.change}</p>
              <ul>
                {one.sites.map((site) => <Place shown={shown} site={site} alone={one.sites.length === 1} />)}
                {one.more[0] > 0 && <li class="dim">and {number(one.more[0])} more places: about {number(one.more[1])} cycles</li>}
              </ul>
              <p class="dim">Check: {one.check} See: {one.see}. Rule: <code>{one.rule}</code>.</p>
            </details>
          </li>
        ))}
      </ol>
      <Help>
        <p>
          Rules looked for what is known to cost cycles. Each finding says what its change is estimated to save of the whole run, between what
          bounds, what to change, and where: click a place to highlight it in all views, its line to see the text, its cycles to see them on
          the timeline. Findings may overlap: make one change, measure again, compare with <code>cyclescope diff</code>.
        </p>
      </Help>
    </section>
  );
}

/** The first finding in a sentence; empty if there is none. */
export function best(shown: Profile): string {
  const [first] = shown.advice;
  return first ? `${capital(first.title)}: ${about(first.saving)} (${percent(first.saving[0], shown.cycles)}).` : "";
}

function Place(props: { shown: Profile; site: Site; alone: boolean }) {
  const { shown, site, alone } = props;
  const paths = pathsAt(shown, site);
  const inside = site.component && ` in ${site.component}`;
  return (
    <li class={`${isPointed(paths) ? "pointed" : ""}${hitClass(site.name, site.evidence)}`}>
      {paths.length ? <button type="button" class="link" onClick={() => point(site.name, paths)}>{site.name}</button> : site.name}
      {inside}
      {site.place && <>, <LineLink file={site.place[0]} line={site.place[1]} /></>}
      {site.cycles && <>, <Cycles span={site.cycles} /></>}
      {!alone && `: ${about(site.saving)}, ${between(site.saving)}`}
      <div class="dim">{site.evidence}</div>
    </li>
  );
}

function Cycles(props: { span: [number, number] }) {
  const [from, to] = props.span;
  return (
    <a href="#timeline" onClick={(event) => {
      event.preventDefault();
      goToCycles({ from, to });
    }}>cycles {number(from)}–{number(to - 1)}</a>
  );
}

/** The call paths that end at a place: those of its name if any have it. */
function pathsAt(shown: Profile, site: Site): number[] {
  const here = shown.frames.map((frame) => {
    const at = frame.positions[0];
    return at !== undefined && site.place !== null && at.file === site.place[0] && at.line === site.place[1];
  });
  const named = shown.frames.map((frame, index) => here[index]! && frame.name === site.name);
  const wanted = named.includes(true) ? named : here;
  return [...shown.frame.keys()].filter((path) => wanted[shown.frame[path]!]);
}

function about([saving]: Saving): string {
  return `about ${cycles(saving)}`;
}

function between([, least, most]: Saving): string {
  return `between ${number(least)} and ${number(most)}`;
}
