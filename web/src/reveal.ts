/** Highlighting something takes every view there: lanes open, the table and the source show it. */

import { batch } from "@preact/signals";
import type { CriticalKey, Position, Profile } from "./data.ts";
import type { Span } from "./derive.ts";
import { segmentAt } from "./derive.ts";
import { groupsAbove } from "./lanes.ts";
import {
  anchor, flame, flameZoom, focus, lanes, look, open, profile, scheduled, sourceFile, sourceLevel, table, view, weights,
  type Focus,
} from "./state.ts";
import { counted } from "./state.ts";
import { drawnFlame } from "./tracks.ts";
import { NARROWEST, boxesOf, keyOf, layOut } from "./flame.ts";

/** Highlight something and show it in all views, or take it back if it is highlighted already. */
export function point(label: string, paths: Iterable<number>, line: Position | null = null): void {
  const set = new Set(paths);
  const old = focus.value;
  if (old && old.label === label && old.paths.size === set.size && [...set].every((path) => old.paths.has(path))) {
    focus.value = null;
    return;
  }
  batch(() => {
    focus.value = { label, paths: set, line };
    show(focus.value);
  });
}

/** Go to a place of the page: the id of an element. */
export function go(id: string): void {
  anchor.value = id;
  arrive();
}

/** Scroll to where the page was led last, once it is drawn. */
export function arrive(): void {
  const id = anchor.value;
  if (!id) return;
  requestAnimationFrame(() => requestAnimationFrame(() => {
    const element = document.getElementById(id);
    if (!element) return;
    element.scrollIntoView({ block: element.tagName === "TR" ? "center" : "start" });
    if (!element.hasAttribute("tabindex")) element.setAttribute("tabindex", "-1");
    element.focus({ preventScroll: true });
  }));
}

/** Show a line in the source view, highlighted with all that comes from it, and go there. */
export function goToLine(level: string, file: string, line: number): void {
  const shown = profile.value;
  const known = level || levelOf(shown, file);
  batch(() => {
    const at: Position = { level: known, file, line };
    focus.value = { label: `${file}:${line}`, paths: new Set(pathsOfLine(shown, at)), line: at };
    show(focus.value);
    go(`line-${line}`);
  });
}

/** Show some cycles on the timeline, with a little around them: how they are entered and left; and go there. */
export function goToCycles({ from, to }: Span): void {
  batch(() => {
    look({ from: Math.max(from - 2, 0), to: to + 2 });
    go("timeline");
  });
}

/** The level of a file of which only the name is known. */
function levelOf(shown: Profile, file: string): string {
  for (const frame of shown.frames) for (const at of frame.positions) if (at.file === file) return at.level;
  return shown.levels[0] ?? "";
}

/** Whether two places are one line. */
export function isSame(one: Position | null | undefined, other: Position | null | undefined): boolean {
  return !!one && !!other && one.level === other.level && one.file === other.file && one.line === other.line;
}

/** The call paths that end in a frame. */
export function pathsOfFrame(shown: Profile, frame: number): number[] {
  return [...shown.frame.keys()].filter((path) => shown.frame[path] === frame);
}

/** The call paths that end in a frame of the critical path, in its instance. */
export function pathsOfKey(shown: Profile, key: CriticalKey): number[] {
  const here = pathsOfFrame(shown, key.frame);
  const inside = here.filter((path) => shown.instances[shown.instance[path]!] === key.instance);
  return inside.length ? inside : here;
}

/** The call paths that end in what comes from a line. */
export function pathsOfLine(shown: Profile, line: Position): number[] {
  const here = shown.frames.map(({ positions }) =>
    positions.some((at) => isSame(at, line)));
  return [...shown.frame.keys()].filter((path) => here[shown.frame[path]!]);
}

function show(found: Focus): void {
  openLanes(found);
  showTable(found);
  showSource(found);
  showTime(found);
  showBox(found);
  showSchedule(found);
}

/** Open all that hides a lane of what is highlighted. */
export function openLanes(found: Focus): void {
  const wanted = new Set([...found.paths].map((path) => lanes.value.of[path]!));
  const above = groupsAbove(lanes.value, wanted);
  if ([...above].some((key) => !open.value.has(key))) open.value = new Set([...open.value, ...above]);
}

/** The table with a row of it: the one that is shown, or that of its kind. */
function showTable(found: Focus): void {
  const shown = profile.value;
  const kindsOf = (kind: string): Set<number> => new Set((shown.tables[kind] ?? []).map((row) => row.frame));
  for (let paths = [...found.paths]; paths.length; paths = above(shown, paths)) {
    const has = (kind: string): boolean => {
      const frames = kindsOf(kind);
      return paths.some((path) => frames.has(shown.frame[path]!));
    };
    if (has(table.value)) return;
    const kind = [shown.frames[shown.frame[paths[0]!]!]!.kind, ...Object.keys(shown.tables)].find(has);
    if (kind !== undefined) {
      table.value = kind;
      return;
    }
  }
}

/** The schedule of the loop that is highlighted, or of one with operations of its line. */
function showSchedule(found: Focus): void {
  const { schedules } = profile.value;
  const graph = graphOf(profile.value, found, scheduled.value);
  if (graph >= 0 && graph < schedules.length) scheduled.value = graph;
}

/** The graph of what is highlighted: the one that is shown if it is of it; -1 for none. */
export function graphOf(shown: Profile, found: Focus, now: number): number {
  const { line } = found;
  const has = shown.schedules.map(({ operations }) =>
    operations.some(({ position }) => isSame(position, line)));
  if (line && has.some(Boolean)) return has[now] ? now : has.lastIndexOf(true);
  const frames = new Set([...found.paths].map((path) => shown.frame[path]!));
  const own = shown.schedules.map(({ frame }) => frames.has(frame));
  return own[now] ? now : own.lastIndexOf(true);
}

function above(shown: Profile, paths: number[]): number[] {
  return [...new Set(paths.map((path) => shown.parent[path]!).filter((path) => path >= 0))];
}

/** The paths whose lines stand for what is highlighted: itself, or who calls it, if that has none of its own. */
export function withLines(shown: Profile, paths: Iterable<number>, level: string): Set<number> {
  const result = new Set<number>();
  for (const first of paths) {
    for (let path = first; path >= 0; path = shown.parent[path]!) {
      if (!shown.frames[shown.frame[path]!]!.positions.some((at) => at.level === level)) continue;
      result.add(path);
      break;
    }
  }
  return result;
}

function showSource(found: Focus): void {
  const shown = profile.value;
  if (found.line) {
    sourceLevel.value = found.line.level;
    sourceFile.value = found.line.file;
    return;
  }
  const level = shown.levels.includes(sourceLevel.value) ? sourceLevel.value : (shown.levels[0] ?? "");
  for (const one of [level, ...shown.levels]) {
    const files = [...withLines(shown, found.paths, one)].map(
      (path) => shown.frames[shown.frame[path]!]!.positions.find((at) => at.level === one)!.file,
    );
    if (!files.length) continue;
    if (one !== level) sourceLevel.value = one;
    if (!files.includes(sourceFile.value)) sourceFile.value = files[0]!;
    return;
  }
}

/** Where nothing of it is active in the cycles that the timeline shows: the next, or the last before. */
function showTime(found: Focus): void {
  const at = activity(profile.value, found.paths, view.value);
  if (!at) return;
  const length = view.value.to - view.value.from;
  look({ from: at.from - length / 10, to: at.from + (9 * length) / 10 });
}

/** The run in which some paths are active, next to a span in which they are not; null if they are. */
export function activity(shown: Profile, paths: ReadonlySet<number>, span: Span): Span | null {
  const { start, what } = shown.runs;
  const has = new Uint8Array(shown.treeStart.length);
  for (let tree = 0; tree + 1 < shown.treeStart.length; tree++) {
    for (let at = shown.treeStart[tree]!; at < shown.treeStart[tree + 1]!; at++) if (paths.has(shown.treePath[at]!)) has[tree] = 1;
  }
  const first = segmentAt(start, span.from);
  for (let run = first; run < what.length; run++) {
    if (has[what[run]!]) return start[run]! < span.to ? null : { from: start[run]!, to: start[run + 1]! };
  }
  for (let run = first - 1; run >= 0; run--) if (has[what[run]!]) return { from: start[run]!, to: start[run + 1]! };
  return null;
}

/** Zoom the flame graph where what is highlighted is too narrow to be drawn, or is not in what is drawn. */
function showBox(found: Focus): void {
  const { graph } = drawnFlame(profile.value, counted.value, weights.value, flame.value);
  const has = [...boxesOf(graph, profile.value.parent, found.paths)];
  if (!has.length) return;
  const zoomed = graph.nodes.find((node) => keyOf(node) === flameZoom.value) ?? graph.root;
  const drawn = new Set(layOut(graph, zoomed, NARROWEST).boxes.map((box) => box.node));
  if (has.some((node) => drawn.has(node))) return;
  const widest = has.reduce((best, node) => (node.total > best.total ? node : best));
  const all = new Set(layOut(graph, graph.root, NARROWEST).boxes.map((box) => box.node));
  const { parent } = widest;
  // Next to what its caller calls besides, if it can be seen there.
  const beside = parent && widest.total >= NARROWEST * parent.total ? parent : widest;
  const to = all.has(widest) ? graph.root : beside;
  flameZoom.value = to === graph.root ? "" : keyOf(to);
}
