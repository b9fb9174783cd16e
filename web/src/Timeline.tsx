import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Profile, Series } from "./data.ts";
import { account, hasSplits, together, trackKind, usesAt } from "./account.ts";
import { type Span, segmentAt } from "./derive.ts";
import { BAND, HEAD, RULER, colouredByUse, colours, draw, drawBand, summedOf } from "./draw.ts";
import type { Summed } from "./bins.ts";
import { Help } from "./Help.tsx";
import { hold, release, stroke } from "./gesture.ts";
import { found, matcher } from "./find.ts";
import { type Lanes, type Line, groupsAbove, shownLines } from "./lanes.ts";
import { KindLegend, Legend } from "./Legend.tsx";
import { point } from "./reveal.ts";
import { focus, lanes as arranged, look, open as opened, profile, select, selection, view, whole } from "./state.ts";
import { printing } from "./print.ts";
import { number, shortened } from "./text.ts";
import { isDark } from "./Theme.tsx";

const TALLEST = 440;
const TALLEST_ON_PAPER = 4000;

export function Timeline() {
  const shown = profile.value;
  const lanes = arranged.value;
  const open = opened.value;
  const lines = useMemo(() => shownLines(lanes, open), [lanes, open]);
  const summed = useMemo(() => new Map<Series, Summed>(), [shown]);
  const [told, setTold] = useState("");
  const canvas = useRef<HTMLCanvasElement>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const width = useWidth(canvas);
  const [scrolled, setScrolled] = useState(0);
  const last = lines[lines.length - 1];
  const content = last ? last.top + last.height : 0;
  const onPaper = printing.value;
  const height = HEAD + Math.min(content, onPaper ? TALLEST_ON_PAPER : TALLEST) + 4;
  const span = view.value;
  const chosen = selection.value;
  // What is highlighted, or else what is searched.
  const pointed = focus.value?.paths ?? found.value?.paths ?? null;
  const dark = isDark.value;

  useLayoutEffect(() => {
    const element = canvas.current;
    if (!element || !width) return;
    const paint = (): void => {
      const context = sized(element, width, height);
      if (!context) return;
      draw(context, {
        profile: shown, lanes, lines, span, selection: chosen, focus: pointed,
        width, height, scrolled, summed,
      }, colours(element));
    };
    // Paper does not wait for a frame.
    if (onPaper) return paint();
    const frame = requestAnimationFrame(paint);
    return () => cancelAnimationFrame(frame);
  }, [shown, lanes, lines, span, chosen, pointed, width, height, scrolled, dark, onPaper]);

  const toggle = (key: string): void => {
    const next = new Set(open);
    if (!next.delete(key)) next.add(key);
    opened.value = next;
  };
  const tell = (cycle: number, y: number): void => {
    const line = lines.find((one) => y >= one.top && y < one.top + one.height);
    setTold(y < 0 ? atCycle(cycle, null) : atCycle(cycle, line ?? null));
  };
  const atCycle = (cycle: number, line: Line | null): string => {
    const now = Math.max(0, Math.min(Math.floor(cycle), shown.cycles - 1));
    const parts = [`cycle ${number(now)}`];
    parts.push(usesText(now));
    const lane = line && line.lane >= 0 ? lanes.lanes[line.lane]! : null;
    if (lane?.series) {
      const { start, end, value } = lane.series.intervals();
      const at = segmentAt(start, now);
      const holds = start.length > 0 && start[at]! <= now && now < end[at]!;
      const about = lane.series.inexact ? "≈" : "";
      const label = holds ? lane.series.labels[String(value[at])] : undefined;
      const told = label ?? (holds ? about + number(value[at]!) : "none");
      parts.push(`${lane.series.track} ${lane.label}: ${told}`);
    } else {
      const path = line && line.lane >= 0 ? pathAt(now, line.lane) : null;
      const chain: string[] = [];
      if (path !== null) {
        for (let p = path; p >= 0; p = shown.parent[p]!) chain.unshift(shown.frames[shown.frame[p]!]!.name);
      } else {
        chain.push(...stacksAt(now));
      }
      if (chain.length) parts.push(shortened(chain).join(path === null ? " | " : " › "));
    }
    return parts.join(" · ");
  };
  /** What the tracks are at in a cycle; whether one that is at work waits is known by samples only. */
  const usesText = (cycle: number): string => {
    const counts = new Map<number, number>();
    for (const use of usesAt(shown, cycle)) counts.set(use, (counts.get(use) ?? 0) + 1);
    const several = shown.account.tracks.length > 0;
    return shown.uses.flatMap((use, index) => {
      const count = counts.get(index);
      const name = use.work && hasSplits(shown) ? `${use.name} or waiting` : use.name;
      return count ? [several ? `${count} ${name}` : name] : [];
    }).join(", ");
  };
  const pathAt = (cycle: number, lane: number): number | null => {
    if (lanes.lanes[lane]!.critical) {
      const { start, what } = shown.critical!.path!;
      return what[segmentAt(start, cycle)] ?? null;
    }
    const tree = shown.runs.what[segmentAt(shown.runs.start, cycle)]!;
    for (let at = shown.treeStart[tree]!; at < shown.treeStart[tree + 1]!; at++) {
      if (lanes.of[shown.treePath[at]!] === lane) return shown.treePath[at]!;
    }
    return null;
  };
  /** The ends of what is active in a cycle. */
  const stacksAt = (cycle: number): string[] => {
    const tree = shown.runs.what[segmentAt(shown.runs.start, cycle)];
    if (tree === undefined) return [];
    const paths = Array.from(shown.treePath.slice(shown.treeStart[tree]!, shown.treeStart[tree + 1]!));
    const inner = new Set(paths.map((path) => shown.parent[path]));
    return paths.filter((path) => !inner.has(path)).map((path) => {
      const frame = shown.frames[shown.frame[path]!]!;
      return `${shown.instances[shown.instance[path]!]}: ${frame.name}`;
    });
  };
  const pick = (cycle: number, y: number): void => {
    const line = lines.find((one) => y >= one.top && y < one.top + one.height);
    const path = line && line.lane >= 0 ? pathAt(Math.floor(cycle), line.lane) : null;
    if (path === null) return;
    const frame = shown.frame[path]!;
    const same = onLane(lanes.of[path]! < 0 ? line!.lane : lanes.of[path]!).filter((p) => shown.frame[p] === frame);
    point(shown.frames[frame]!.name, same);
  };
  const onLane = (lane: number): number[] =>
    lanes.lanes[lane]!.critical ? [...new Set(shown.critical!.path!.what)] : [...lanes.of.keys()].filter((path) => lanes.of[path] === lane);
  const marked = useMemo(() => {
    const all = new Set<number>();
    for (const path of focus.value?.paths ?? []) all.add(lanes.of[path]!);
    return all;
  }, [lanes, focus.value]);
  const hits = useMemo(() => {
    const all = new Set<number>();
    const { paths = [], series = [] } = found.value ?? {};
    for (const path of paths) all.add(lanes.of[path]!);
    lanes.lanes.forEach((lane, at) => lane.series && series.includes(lane.series) && all.add(at));
    return all;
  }, [lanes, matcher.value]);
  /** Whether a line shows some lane, or hides it in a closed group. */
  const has = (line: Line, some: ReadonlySet<number>): boolean =>
    some.has(line.lane) || (line.group !== null && !line.open && groupsAbove({ ...lanes, groups: [line.group] }, some).size > 0);
  // The first lane with something that is highlighted is brought into view, unless one is there.
  useEffect(() => {
    const list = scroller.current;
    const on = lines.filter((line) => marked.has(line.lane));
    if (!list || !on.length) return;
    const { scrollTop: top, clientHeight: room } = list;
    if (on.some((line) => line.top >= top && line.top + line.height <= top + room)) return;
    list.scrollTop = Math.max(0, on[0]!.top - room / 3);
  }, [focus.value, lines]);

  const sums = useMemo(() => together(shown, account(shown, whole.value)), [shown]);
  const kinds = useMemo(() => kindsDrawn(shown, lines, lanes), [shown, lines, lanes]);
  if (!shown.cycles) return null;
  return (
    <section id="timeline" aria-labelledby="timeline-title">
      <h2 id="timeline-title">Timeline</h2>
      <Tools />
      <Legend uses={shown.uses.filter((_, use) => sums[use])} />
      <Overview />
      <div class="timeline" style={{ height: `${height}px` }}>
        <div class="names" ref={scroller} tabIndex={0} role="region" aria-label="Lanes of the timeline"
          style={{ height: `${height - HEAD}px`, marginTop: `${HEAD}px` }}
          onScroll={(event) => setScrolled(event.currentTarget.scrollTop)}>
          <ul style={{ height: `${content}px` }}>
            {lines.map((line) => (
              <li class={`${has(line, marked) ? "pointed" : ""} ${has(line, hits) ? "hit" : ""}`} style={{ height: `${line.height}px`, paddingLeft: `${6 + 12 * line.depth}px` }}>
                {line.group ? (
                  <button type="button" aria-expanded={line.open} onClick={() => toggle(line.group!.key)}>
                    <i aria-hidden="true">{line.open ? "▾" : "▸"}</i>{line.label}
                  </button>
                ) : lanes.lanes[line.lane]!.series ? (
                  <Counter label={line.label} series={lanes.lanes[line.lane]!.series!} summed={summed} />
                ) : (
                  <button type="button" class="lane" title={line.label} aria-label={`${lanes.lanes[line.lane]!.label}: highlight`}
                    onClick={() => point(lanes.lanes[line.lane]!.label, onLane(line.lane))}>{line.label}</button>
                )}
              </li>
            ))}
          </ul>
        </div>
        <div class="heads" aria-hidden="true" style={{ top: `${RULER}px`, height: `${BAND}px` }}>what cycles are for</div>
        <Surface canvas={canvas} width={width} scroller={scroller} span={span} tell={tell} pick={pick} scrolled={scrolled} height={height} />
      </div>
      {kinds.size > 0 && <KindLegend profile={shown} kinds={kinds} />}
      <p class="details" data-part="at" aria-live="polite">{told || atCycle(span.from, null)}</p>
      <Help>
        <p>
          Time runs to the right, in cycles. On top: what the cycles are for, in the summary's colours, work at the bottom of the
          stack.{" "}
          {shown.account.tracks.length > 0 && <>Below: a lane for each {trackKind(shown)}, in the same colours, and what is in it. </>}
          {shown.critical?.path && <>The critical path is a lane: whose own cycles decide how long the run takes. </>}
          {shown.account.tracks.length === 0 && <>Below: a lane for each cell, and in it its control blocks, groups by arm of a <code>par</code>, and counters. </>}
          {hasSplits(shown) && <>How much of the work was waiting is known for each sample of the counters, and drawn evenly over it. </>}
          Zoomed out, a lane's height says which share of its cycles it was busy; zoomed in, each box is an activation.
        </p>
        <p>
          Drag to select cycles: flame graph, tables, source and summary then count those only. Drag with Shift, or on the ruler,
          to move; Ctrl and the wheel zoom. Keys: + and − zoom, arrows move, Home shows all, Enter selects what is shown,
          Escape selects all. Click a box to highlight it in all views.
        </p>
      </Help>
    </section>
  );
}

/** A counter's name, and its axis: the values at the lane's foot and top, which are the least and the greatest of the run. */
function Counter(props: { label: string; series: Series; summed: Map<Series, Summed> }) {
  const { label, series, summed } = props;
  const named = Object.keys(series.labels).length > 0;
  const { least, greatest } = named ? { least: 0, greatest: 0 } : summedOf(summed, series);
  const about = series.inexact ? "≈ " : "";
  return (
    <>
      <span title={named ? label : `${label}, from ${about}${number(least)} to ${about}${number(greatest)}`}>{label}</span>
      {!named && <small class="axis" data-part="axis"><b>{about}{number(greatest)}</b><b>{about}{number(least)}</b></small>}
    </>
  );
}

/** Kinds of frames on lanes that are coloured by kind. */
function kindsDrawn(shown: Profile, lines: Line[], lanes: Lanes): Set<string> {
  const seen = new Set(lines.map((line) => line.lane));
  const kinds = new Set<string>();
  lanes.of.forEach((lane, path) => {
    if (!seen.has(lane) || lanes.lanes[lane]!.track >= 0 || colouredByUse(shown, path)) return;
    kinds.add(shown.frames[shown.frame[path]!]!.kind);
  });
  return kinds;
}

function Tools() {
  const span = view.value;
  const counted = selection.value ?? whole.value;
  const edit = (part: "from" | "to", text: string): void => {
    const value = Number(text);
    if (!text || !Number.isFinite(value)) return;
    if (part === "from") select({ from: value, to: Math.max(value + 1, counted.to) });
    else select({ from: Math.min(counted.from, value - 1), to: value });
    showSelection();
  };
  return (
    <div class="tools">
      <button type="button" onClick={() => zoom(0.5)}>Zoom in</button>
      <button type="button" onClick={() => zoom(2)}>Zoom out</button>
      <button type="button" data-part="all" onClick={() => look(whole.value)}>Show all</button>
      {selection.value && <button type="button" data-part="show-selected" onClick={showSelection}>Show the selection</button>}
      <button type="button" data-part="select-shown" onClick={() => select(span)}>Select visible range</button>
      <label>Range: cycles from <input type="number" min={0} max={whole.value.to - 1} value={counted.from} data-part="from" onChange={(e) => edit("from", e.currentTarget.value)} /></label>
      <label>to before <input type="number" min={1} max={whole.value.to} value={counted.to} data-part="to" onChange={(e) => edit("to", e.currentTarget.value)} /></label>
      <span class="note" data-part="view">shown: {number(Math.floor(span.from))}–{number(Math.ceil(span.to) - 1)}</span>
    </div>
  );
}

/** Look at the selected cycles, with a little around them. */
function showSelection(): void {
  const { from, to } = selection.value ?? whole.value;
  const around = (to - from) / 10;
  look({ from: from - around, to: to + around });
}

/** Zoom the view around a place in it. */
function zoom(by: number, at = 0.5): void {
  const { from, to } = view.value;
  const length = Math.min((to - from) * by, whole.value.to);
  const centre = from + (to - from) * at;
  look({ from: centre - length * at, to: centre + length * (1 - at) });
}

function move(by: number): void {
  const { from, to } = view.value;
  look({ from: from + by * (to - from), to: to + by * (to - from) });
}

/** The whole run; drag in it to choose what the timeline shows. */
function Overview() {
  const canvas = useRef<HTMLCanvasElement>(null);
  const width = useWidth(canvas);
  const shown = profile.value;
  const dark = isDark.value;
  const span = view.value;
  const height = 26;
  useEffect(() => {
    const context = canvas.current && width ? sized(canvas.current, width, height) : null;
    if (!context) return;
    drawBand(context, shown, whole.value, colours(canvas.current!), { left: 0, top: 0, width, height });
  }, [shown, width, dark]);
  const from = useRef<number | null>(null);
  const cycleAt = (event: PointerEvent): number =>
    (event.offsetX / (width || 1)) * whole.value.to;
  return (
    <div class="overview" aria-hidden="true">
      <div class="around">
        <canvas ref={canvas} style={{ height: `${height}px` }}
          onPointerDown={(event) => { hold(); from.current = cycleAt(event); event.currentTarget.setPointerCapture(event.pointerId); }}
          onPointerMove={(event) => {
            if (from.current === null) return;
            const now = cycleAt(event);
            look({ from: Math.min(from.current, now), to: Math.max(from.current, now) });
          }}
          onPointerUp={(event) => {
            const begun = from.current;
            from.current = null;
            queueMicrotask(release);
            if (begun === null || Math.abs(cycleAt(event) - begun) > (3 * whole.value.to) / (width || 1)) return;
            const half = (view.value.to - view.value.from) / 2;
            look({ from: begun - half, to: begun + half });
          }}
          onPointerCancel={() => { from.current = null; release(); }} />
        <div class="window" style={{ left: `${(100 * span.from) / whole.value.to}%`, width: `${(100 * (span.to - span.from)) / whole.value.to}%` }} />
      </div>
    </div>
  );
}

interface SurfaceProps {
  canvas: { current: HTMLCanvasElement | null };
  scroller: { current: HTMLDivElement | null };
  width: number;
  height: number;
  scrolled: number;
  span: Span;
  tell: (cycle: number, y: number) => void;
  pick: (cycle: number, y: number) => void;
}

/** The canvas and what a hand does on it. */
function Surface(props: SurfaceProps) {
  const { canvas, width, span } = props;
  const drag = useRef<{ x: number; y: number; span: Span; moves: boolean; far: boolean } | null>(null);
  const cycleAt = (x: number, of: Span = span): number => of.from + (x / (width || 1)) * (of.to - of.from);
  const lineAt = (y: number): number => (y < HEAD ? -1 : y - HEAD + props.scrolled);
  useEffect(() => {
    const element = canvas.current!;
    const onWheel = (event: WheelEvent): void => {
      if (event.ctrlKey || event.metaKey) {
        event.preventDefault();
        stroke("wheel", () => zoom(Math.exp(Math.max(-60, Math.min(60, event.deltaY)) / 120), event.offsetX / (element.clientWidth || 1)));
      } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        event.preventDefault();
        stroke("wheel", () => move((event.deltaX || event.deltaY) / (element.clientWidth || 1)));
      } else if (props.scroller.current) {
        const before = props.scroller.current.scrollTop;
        props.scroller.current.scrollTop += event.deltaY;
        if (props.scroller.current.scrollTop !== before) event.preventDefault();
      }
    };
    // Not passive: the page must not zoom or scroll along.
    element.addEventListener("wheel", onWheel, { passive: false });
    return () => element.removeEventListener("wheel", onWheel);
  }, []);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const keys: Record<string, () => void> = {
      "+": () => zoom(0.5),
      "=": () => zoom(0.5),
      "-": () => zoom(2),
      ArrowLeft: () => move(-0.2),
      ArrowRight: () => move(0.2),
      Home: () => look(whole.value),
      Enter: () => select(view.value),
    };
    const act = keys[event.key];
    if (!act) return;
    event.preventDefault();
    if (event.key.startsWith("Arrow")) stroke("key", act);
    else act();
  };
  return (
    <canvas ref={canvas} class="surface" tabIndex={0} role="application" data-part="surface"
      aria-roledescription="timeline"
      aria-label={`Timeline, cycles ${number(Math.floor(span.from))} to ${number(Math.ceil(span.to) - 1)}. Plus and minus zoom, arrows move, Enter selects what is shown.`}
      style={{ height: `${props.height}px` }} onKeyDown={onKeyDown}
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        hold();
        drag.current = { x: event.offsetX, y: event.offsetY, span, moves: event.shiftKey || event.offsetY < RULER, far: false };
      }}
      onPointerMove={(event) => {
        const begun = drag.current;
        if (!begun) return props.tell(cycleAt(event.offsetX), lineAt(event.offsetY));
        begun.far ||= Math.abs(event.offsetX - begun.x) > 3;
        if (!begun.far) return;
        if (begun.moves) {
          const by = cycleAt(begun.x, begun.span) - cycleAt(event.offsetX, begun.span);
          look({ from: begun.span.from + by, to: begun.span.to + by });
        } else {
          const ends = [cycleAt(begun.x), cycleAt(event.offsetX)].sort((a, b) => a - b);
          select({ from: Math.round(ends[0]!), to: Math.round(ends[1]!) });
        }
      }}
      onPointerUp={(event) => {
        const begun = drag.current;
        drag.current = null;
        release();
        if (begun && !begun.far) props.pick(cycleAt(event.offsetX), lineAt(event.offsetY));
      }}
      onPointerCancel={() => { drag.current = null; release(); }}
      onDblClick={(event) => zoom(0.25, event.offsetX / (width || 1))} />
  );
}

/** The canvas in the screen's own pixels. */
function sized(element: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D | null {
  const ratio = window.devicePixelRatio || 1;
  const [across, down] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (element.width !== across || element.height !== down) {
    element.width = across;
    element.height = down;
  }
  const context = element.getContext("2d");
  context?.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

/** How wide an element is, also after the window changed. */
function useWidth(element: { current: HTMLElement | null }): number {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const watched = element.current;
    if (!watched) return;
    const observer = new ResizeObserver(() => setWidth(watched.clientWidth));
    observer.observe(watched);
    setWidth(watched.clientWidth);
    return () => observer.disconnect();
  }, []);
  return width;
}

