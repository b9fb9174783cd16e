import { useMemo } from "preact/hooks";
import { type Units, account, hasSplits, together, trackKind, tracksIn, unitsIn } from "./account.ts";
import { best } from "./Advice.tsx";
import { Clock } from "./Clock.tsx";
import type { Profile, ProgramSite, Use } from "./data.ts";
import { type Hot, type Stall, hottest, stalls } from "./derive.ts";
import { Help } from "./Help.tsx";
import { fill } from "./paint.ts";
import { hitClass } from "./find.ts";
import { LineLink } from "./LineLink.tsx";
import { pressed } from "./press.ts";
import { goToLine, point } from "./reveal.ts";
import { counted, countedCycles, focus, profile, selection, weights } from "./state.ts";
import { Table } from "./Table.tsx";
import { cycles, duration, kindName, number, percent, shortened } from "./text.ts";
import { unitsOfParts, usesOfEnds } from "./tracks.ts";

const TRACKS = 16;
const PLACES = 12;

export function Summary() {
  const shown = profile.value;
  const span = counted.value;
  const total = countedCycles.value;
  const all = unitsIn(shown, span);
  const { unit, tracks } = shown.account;
  const units = useMemo(() => account(shown, span), [shown, span]);
  const sums = together(shown, units);
  const waits = useMemo(() => stalls(shown, span), [shown, span]);
  const hot = hottest(shown, weights.value, span, 8);
  const hotAll = shown.team ? all : total;
  const { stacks } = shown;
  const parts = useMemo(() => stacks && unitsOfParts(shown, stacks, span), [shown, span]);
  return (
    <section id="summary" aria-labelledby="summary-title">
      <h1 id="summary-title">
        <span data-part="total">{number(total)}</span> {total === 1 ? "cycle" : "cycles"}{" "}
        <span class="what">{shown.title}</span>
        {shown.periodPs !== null && (
          <span class="what"> {duration(total * shown.periodPs)} at {duration(shown.periodPs)} a cycle</span>
        )}
      </h1>
      {selection.value && <p class="note">of a run of {cycles(shown.cycles)}</p>}
      {!shown.complete && (
        <p class="warn" role="alert">
          INCOMPLETE: the run was stopped before its end{shown.stopReason && ` (${shown.stopReason})`};
          all figures are of the cycles so far.
        </p>
      )}
      {shown.anomalies.filter((anomaly) => anomaly.severity !== "info").map((anomaly) => (
        <p class="warn">
          {anomaly.severity.toUpperCase()}: {anomaly.name} × {number(anomaly.count)}
          {anomaly.detail && `: ${anomaly.detail}`}
        </p>
      ))}
      {all > 0 && <Gist uses={shown.uses} units={units} sums={sums} all={all} unit={unit} />}
      {waits[0]?.site && <Longest stall={waits[0]} all={all} unit={unit} />}
      {tracks.length > 1 && !shown.team && <Busiest shown={shown} units={units} total={total} />}
      {!waits.length && (shown.team || tracks.length < 2) && <MostLost hot={hot} shown={shown} all={hotAll} />}
      {shown.clock && <Clock clock={shown.clock} />}
      {shown.advice.length > 0 && <p class="first"><a href="#advice">What to change</a> first{selection.value && ", in the whole run"}: {best(shown)}</p>}
      <UseBar uses={shown.uses} units={sums} total={all} />
      <div class="columns">
        <Table part="uses" kind="uses" heads={[["what for"], [unit, "n"], ["share", "n"]]}
          caption={
            tracks.length
              ? `Where the ${number(total)} cycles of ${number(tracks.length)} ${kindsOf(shown)} go: each has one use in every cycle`
              : "Where the cycles go: every cycle has one use"
          }>
          {shown.uses.map((use, index) =>
            sums[index] || use.work ? (
              <tr>
                <th scope="row" title={use.about}><i class="swatch" style={fill(use)} />{use.name}</th>
                <td class="n" data-use={use.label}>{about(units, index)}{number(sums[index]!)}</td>
                <td class="n">{percent(sums[index]!, all)}</td>
              </tr>
            ) : null,
          )}
          <tr class="sum"><th scope="row">all</th><td class="n" data-part="account">{number(all)}</td><td /></tr>
        </Table>
        <Table part="hottest" kind="hot" caption={`Hottest paths: ${shown.team ? unit : "cycles"} in which they called nothing more (what runs in parallel counts each time)`}
          heads={[["cycles", "n"], ["share", "n"], ["what for"], ["line"], ["path"]]}>
          {hot.map((one) => {
            const frame = shown.frames[one.frame]!;
            const names = [one.instance, ...one.stack].filter((name) => name);
            const at = frame.positions[0];
            const spent = stacks && parts ? usesOfEnds(shown, stacks, parts, one.paths) : new Float64Array();
            const sum = spent.reduce((a, b) => a + b, 0);
            const most = sum ? spent.indexOf(Math.max(...spent)) : one.use;
            const use = shown.uses[most]!;
            const label = names.join(" › ");
            const press = (): void => point(label, one.paths);
            return (
              <tr class={`${isPointed(one.paths) ? "pointed press" : "press"}${hitClass(names[names.length - 1] ?? "")}`} onClick={pressed(press)}>
                <td class="n">{number(one.cycles)}</td>
                <td class="n">{percent(one.cycles, hotAll)}</td>
                <td class="whole"><i class="swatch" style={fill(use)} />{use.name}{sum > 0 && percent(spent[most]!, sum) !== percent(1, 1) && <span class="dim"> {percent(spent[most]!, sum)}</span>}</td>
                <td class="place">{at && <LineLink {...at} />}</td>
                <td>
                  <button type="button" class="link" title={label} onClick={press}>
                    {shortened(names.slice(0, -1)).map((name) => <span class="dim">{name} › </span>)}
                    <b>{names[names.length - 1]}</b>
                  </button>
                </td>
              </tr>
            );
          })}
        </Table>
      </div>
      {(waits.length > 0 || tracks.length > 1) && (
        <div class="columns even">
          {waits.length > 0 && <Waits rows={waits.slice(0, PLACES)} who={tracks.length ? kindsOf(shown) : "it"} all={all} unit={unit} />}
          {tracks.length > 1 && <Tracks shown={shown} units={units} total={total} />}
        </div>
      )}
      {(units.exact.includes(false) || waits.some((one) => !one.exact)) && (
        <p class="note" data-part="sampled">
          ≈ Counters are sampled: of samples that the selection cuts, the share that is inside counts.
        </p>
      )}
      <Help>
        <p>
          {tracks.length
            ? `Each of the ${number(tracks.length)} ${kindsOf(shown)} has one use in every cycle, so all uses add up to ${number(tracks.length)} times the cycles: ${unit}.`
            : "Every cycle has one use, so all uses add up to the cycles. If several things happen at once, work counts first."}{" "}
          Useful is work; everything else is lost, by its cause:
        </p>
        <dl class="uses">
          {shown.uses.filter((use, index) => sums[index] || use.work).map((use) => (
            <div><dt><i class="swatch" style={fill(use)} />{use.name}</dt><dd>{use.about}</dd></div>
          ))}
        </dl>
        {hasSplits(shown) && (
          <p>
            Counters tell waiting apart from work, for each sample: in it they are divided among the paths of
            one of the {kindsOf(shown)} in proportion. A hot path has the use of most of its cycles, and their share.
          </p>
        )}
        {waits.length > 0 && (
          <p>Each place of waiting counts for itself: who waits in several at once counts in each, so these do not add up.</p>
        )}
        <p>
          Ask first whether the useful share is small, then which loss is largest, then where: in the hottest
          paths{waits.length > 0 ? " and the places of waiting" : ""}. Click a path to highlight it in all views.
        </p>
      </Help>
    </section>
  );
}

/** The answer in a sentence. */
function Gist(props: { uses: Use[]; units: Units; sums: Float64Array; all: number; unit: string }) {
  const { uses, units, sums, all, unit } = props;
  const losses = uses.map((use, index) => ({ use, index })).filter(({ use, index }) => !use.work && sums[index]! > 0);
  const lost = losses.reduce((sum, { index }) => sum + sums[index]!, 0);
  if (!lost) return <p class="gist"><span data-part="lost">0</span> {unit} did no work: all {number(all)} are useful.</p>;
  const most = losses.reduce((a, b) => (sums[b.index]! > sums[a.index]! ? b : a));
  const inexact = units.exact.includes(false) ? "≈ " : "";
  return (
    <p class="gist">
      {inexact}<b><span data-part="lost">{number(lost)}</span> {unit} ({percent(lost, all)}) did no work</b>;
      {losses.length > 1 ? " most" : " all"}: <i class="swatch" style={fill(most.use)} /><b data-part="most">{most.use.name}</b>
      {losses.length > 1 && ` (${percent(sums[most.index]!, all)})`}.
    </p>
  );
}

/** The place where was waited longest. */
function Longest(props: { stall: Stall; all: number; unit: string }) {
  const { stall, all, unit } = props;
  return (
    <p class="first">
      Longest wait: <b>{stall.name}</b>{stall.site && <Place site={stall.site} before=", " />},{" "}
      {stall.exact ? "" : "≈ "}{number(stall.cycles)} {unit} ({percent(stall.cycles, all)}).
    </p>
  );
}

/** The path that lost most on its own. */
function MostLost(props: { hot: Hot[]; shown: Profile; all: number }) {
  const { hot, shown, all } = props;
  const [most] = hot.filter((one) => one.lost > 0).sort((a, b) => b.lost - a.lost);
  if (!most) return null;
  const at = shown.frames[most.frame]!.positions[0];
  const name = most.stack[most.stack.length - 1] ?? most.instance;
  return (
    <p class="first">
      Most in one place: <b>{name}</b>{most.stack.length > 0 && most.instance && ` in ${most.instance}`}
      {at && <Place site={{ label: "", ...at }} before=", " />}, {number(most.lost)} {shown.team ? shown.account.unit : "cycles"}{" "}
      ({percent(most.lost, all)}).
    </p>
  );
}

/** Of tracks that do different things the one that works most: the others can but wait for it. */
function Busiest(props: { shown: Profile; units: Units; total: number }) {
  const { shown, units, total } = props;
  const { tracks } = shown.account;
  const work = shown.uses.findIndex((use) => use.work);
  const useful = tracks.map((_, track) => units.of[track * shown.uses.length + work]!);
  const most = useful.indexOf(Math.max(...useful));
  const frame = shown.frames[shown.frame[tracks[most]!]!]!;
  const at = frame.positions[0];
  if (!useful[most]) return null;
  return (
    <p class="first">
      Busiest {frame.kind}: <b>{frame.name}</b>{at && <Place site={{ label: "", ...at }} before=", " />}, at work in{" "}
      {about(units, work)}{number(useful[most]!)} of {cycles(total)} ({percent(useful[most]!, total)}).
    </p>
  );
}

function about(units: Units, use: number): string {
  return units.exact[use] ? "" : "≈ ";
}

/** The plural name of the profile's tracks, such as `threads`. */
function kindsOf(shown: Profile): string {
  return kindName(trackKind(shown));
}

/** Whether what is highlighted is among some paths. */
export function isPointed(paths: number[]): boolean {
  const { value } = focus;
  return value !== null && paths.some((path) => value.paths.has(path));
}

/** A place of the program as a link to its line, if it is known. */
function Place(props: { site: ProgramSite; before?: string }) {
  const { level, file, line } = props.site;
  if (!line || file === undefined || level === undefined) return null;
  return (
    <>{props.before}<LineLink level={level} file={file} line={line} /></>
  );
}

/** Whether a place of the program is what is highlighted. */
function isThere(site: ProgramSite | undefined): boolean {
  const line = focus.value?.line;
  return !!line && line.file === site?.file && line.line === site.line;
}

/** Highlight a place of the program, and go to its line. */
function visit(site: ProgramSite | undefined): void {
  if (site?.line && site.file !== undefined) goToLine(site.level ?? "", site.file, site.line);
}

function Waits(props: { rows: Stall[]; who: string; all: number; unit: string }) {
  const causes = props.rows.some((one) => one.cause);
  return (
    <Table part="places" caption={`Where ${props.who} waited (several places at once each count)`}
      heads={[[props.unit, "n"], ["share", "n"], ["place"], ...(causes ? [["for"] as [string]] : []), ["line"]]}>
      {props.rows.map((one) => (
        <tr class={`${isThere(one.site) ? "pointed press" : "press"}${hitClass(one.name)}`} onClick={pressed(() => visit(one.site))}>
          <td class="n">
            <span class="meter heat" style={{ width: `${(100 * one.cycles) / (props.all || 1)}%` }} />
            {one.exact ? "" : "≈ "}{number(one.cycles)}
          </td>
          <td class="n">{percent(one.cycles, props.all)}</td>
          <td>{one.name}</td>
          {causes && <td>{one.cause}</td>}
          <td class="whole">{one.site && <Place site={one.site} />}</td>
        </tr>
      ))}
    </Table>
  );
}

/** The account of each track, on one scale: who loses, and whether the work is even. */
function Tracks(props: { shown: Profile; units: Units; total: number }) {
  const { shown, units, total } = props;
  const width = shown.uses.length;
  const paths = shown.account.tracks;
  const work = shown.uses.findIndex((use) => use.work);
  return (
    <Table part="tracks" caption={`By ${trackKind(shown)}, ${number(total)} cycles each`}
      heads={[[trackKind(shown)], ["useful", "n"], ["share", "n"], ["what for", "barcell"]]}>
      {paths.slice(0, TRACKS).map((path, track) => {
        const name = shown.frames[shown.frame[path]!]!.name;
        const row = units.of.subarray(track * width, (track + 1) * width);
        const press = (): void => point(name, inside(shown, track));
        return (
          <tr class={`${isPointed([path]) ? "pointed press" : "press"}${hitClass(name)}`} onClick={pressed(press)}>
            <th scope="row"><button type="button" class="link" onClick={press}>{name}</button></th>
            <td class="n">{about(units, work)}{number(row[work]!)}</td>
            <td class="n">{percent(row[work]!, total)}</td>
            <td class="barcell"><UseBar uses={shown.uses} units={row} total={total} /></td>
          </tr>
        );
      })}
      {paths.length > TRACKS && <tr><td class="dim" colSpan={4}>and {number(paths.length - TRACKS)} more</td></tr>}
    </Table>
  );
}

function inside(shown: Profile, track: number): number[] {
  return [...shown.trackOf.keys()].filter((path) => shown.trackOf[path] === track);
}

/** The number of tracks and their name, such as `8 threads`; empty for a single root. */
export function tracksText(shown: Profile): string {
  return shown.account.tracks.length ? `${number(tracksIn(shown))} ${kindsOf(shown)}` : "";
}

/** Uses as one bar; the table beside it says the same to those who cannot see it. */
export function UseBar(props: { uses: Use[]; units: ArrayLike<number>; total: number }) {
  return (
    <div class="bar" aria-hidden="true">
      {props.uses.map((use, index) =>
        props.units[index] ? (
          <span
            style={{ ...fill(use), width: `${(100 * props.units[index]!) / (props.total || 1)}%` }}
            title={`${use.name}: ${number(props.units[index]!)}`}
          />
        ) : null,
      )}
    </div>
  );
}
