/** Draws the timeline's visible lines on a canvas. */

import { band, tracksIn, useOf } from "./account.ts";
import { Summed, bins, binsOnce, coverage, slices } from "./bins.ts";
import type { Profile, Series } from "./data.ts";
import { type Span, segmentAt } from "./derive.ts";
import type { Lanes, Line } from "./lanes.ts";
import { colourName, inkName } from "./paint.ts";
import { ticks } from "./ruler.ts";
import { kindColour, number } from "./text.ts";

export interface Colours {
  text: string;
  faint: string;
  page: string;
  line: string;
  accent: string;
  counter: string;
  of: (name: string) => string;
}

/** The page's colours as the style sheet has them now. */
export function colours(element: Element): Colours {
  const style = getComputedStyle(element);
  const known = new Map<string, string>();
  const get = (name: string): string => {
    let value = known.get(name);
    if (value === undefined) known.set(name, (value = style.getPropertyValue(`--${name}`).trim()));
    return value;
  };
  return {
    text: get("text"),
    faint: get("faint"),
    page: get("page"),
    line: get("line"),
    accent: get("accent"),
    counter: get("counter"),
    of: get,
  };
}

export interface Scene {
  profile: Profile;
  lanes: Lanes;
  lines: Line[];
  span: Span;
  selection: Span | null;
  focus: ReadonlySet<number> | null;
  /** Pixels: of the drawing, and how far the lines are scrolled. */
  width: number;
  height: number;
  scrolled: number;
  summed: Map<Series, Summed>;
}

export const RULER = 22;
export const BAND = 46;
export const HEAD = RULER + BAND;
const FONT = "12px system-ui, sans-serif";

export function draw(canvas: CanvasRenderingContext2D, scene: Scene, look: Colours): void {
  canvas.clearRect(0, 0, scene.width, scene.height);
  canvas.font = FONT;
  canvas.textBaseline = "middle";
  canvas.save();
  canvas.beginPath();
  canvas.rect(0, HEAD, scene.width, scene.height - HEAD);
  canvas.clip();
  drawLines(canvas, scene, look);
  canvas.restore();
  drawRuler(canvas, scene, look);
  drawBand(canvas, scene.profile, scene.span, look, {
    left: 0, top: RULER, width: scene.width, height: BAND - 4,
  });
  drawSelection(canvas, scene, look);
}

/** Where a cycle is on the screen. */
export function pixelOf(span: Span, width: number, cycle: number): number {
  return ((cycle - span.from) / (span.to - span.from)) * width;
}

function drawRuler(canvas: CanvasRenderingContext2D, scene: Scene, look: Colours): void {
  const { span, width, height } = scene;
  canvas.fillStyle = look.faint;
  for (const [cycle, label] of ticks(span, width, scene.profile.periodPs)) {
    const x = Math.round(pixelOf(span, width, cycle));
    canvas.globalAlpha = 0.25;
    canvas.fillRect(x, RULER - 5, 1, height);
    canvas.globalAlpha = 1;
    canvas.fillText(label, x + 3, RULER / 2);
  }
}

interface Area {
  left: number;
  top: number;
  width: number;
  height: number;
}

/** What cycles are for, of all tracks or of one, stacked: work at the bottom. */
export function drawBand(
  canvas: CanvasRenderingContext2D, profile: Profile, span: Span, look: Colours, area: Area, track?: number,
): void {
  const count = Math.max(1, Math.floor(area.width));
  const { uses } = profile;
  const per = track === undefined ? tracksIn(profile) : 1;
  const shares = band(profile, span, count, track);
  const base = new Float64Array(count);
  uses.forEach((use, index) => {
    canvas.fillStyle = look.of(colourName(use)) || look.faint;
    canvas.beginPath();
    for (let pixel = 0; pixel < count; pixel++) {
      const share = Math.min(1, shares[pixel * uses.length + index]! / per);
      if (!(share > 0)) continue;
      const height = share * area.height;
      canvas.rect(area.left + pixel, area.top + area.height - base[pixel]! - height, 1, height);
      base[pixel]! += height;
    }
    canvas.fill();
  });
}

function drawSelection(canvas: CanvasRenderingContext2D, scene: Scene, look: Colours): void {
  if (!scene.selection) return;
  const from = pixelOf(scene.span, scene.width, scene.selection.from);
  const to = Math.max(from + 1, pixelOf(scene.span, scene.width, scene.selection.to));
  canvas.globalAlpha = 0.55;
  canvas.fillStyle = look.page;
  canvas.fillRect(0, RULER, Math.max(0, from), scene.height);
  canvas.fillRect(to, RULER, Math.max(0, scene.width - to), scene.height);
  canvas.globalAlpha = 1;
  canvas.fillStyle = look.accent;
  canvas.fillRect(from - 1, 0, 2, scene.height);
  canvas.fillRect(to - 1, 0, 2, scene.height);
  canvas.fillRect(from, RULER - 3, to - from, 3);
}

function drawLines(canvas: CanvasRenderingContext2D, scene: Scene, look: Colours): void {
  const { lanes, scrolled, height } = scene;
  const seen = scene.lines.filter(
    (line) => line.lane >= 0 && line.top + line.height > scrolled && line.top < scrolled + height - HEAD,
  );
  for (const line of seen) {
    const { track } = lanes.lanes[line.lane]!;
    if (track >= 0) drawTrack(canvas, scene, look, line, track);
  }
  const { runs } = scene.profile;
  const many = segmentAt(runs.start, scene.span.to) - segmentAt(runs.start, scene.span.from);
  if (many > 2 * scene.width) drawBusy(canvas, scene, look, slotsOf(scene, seen, true));
  else drawSlices(canvas, scene, look, slotsOf(scene, seen, false));
  for (const line of seen) if (lanes.lanes[line.lane]!.critical) drawCritical(canvas, scene, look, line);
  for (const line of seen) {
    const { series } = lanes.lanes[line.lane]!;
    if (series) drawCounter(canvas, scene, look, line, series);
  }
}

/** Whose own cycles decide the run: by kind, or as boxes with names where these fit. */
function drawCritical(canvas: CanvasRenderingContext2D, scene: Scene, look: Colours, line: Line): void {
  const { profile, span, width, focus } = scene;
  const { start, what } = profile.critical!.path!;
  const top = HEAD + line.top - scene.scrolled + 1;
  const high = line.height - 2;
  const first = segmentAt(start, span.from);
  const last = segmentAt(start, span.to);
  if (last - first <= 2 * width) {
    for (let run = first; run <= last && run < what.length; run++) {
      const path = what[run]!;
      const track = profile.account.tracks[profile.trackOf[path]!];
      const { name } = profile.frames[profile.frame[path]!]!;
      const whose = track === undefined || track === path ? "" : `, ${profile.frames[profile.frame[track]!]!.name}`;
      box(canvas, scene, look, { path, from: start[run]!, to: start[run + 1]! }, top, high, name + whose);
    }
    return;
  }
  const count = Math.max(1, Math.floor(width));
  const found = bins(profile.critical!.path!, profile.parent.length, span, count);
  const step = (span.to - span.from) / count;
  for (let pixel = 0; pixel < count; pixel++) {
    const shares = new Map<string, number>();
    let marked = 0;
    for (let i = found.first[pixel]!; i < found.first[pixel + 1]!; i++) {
      const colour = colourOf(profile, found.what[i]!);
      const share = found.cycles[i]! / step;
      shares.set(colour, (shares.get(colour) ?? 0) + share);
      if (focus?.has(found.what[i]!)) marked += share;
    }
    let base = 0;
    canvas.globalAlpha = focus ? 0.4 : 1;
    for (const [colour, share] of [...shares].sort(([a], [b]) => (a < b ? -1 : 1))) {
      canvas.fillStyle = look.of(colour) || look.faint;
      canvas.fillRect(pixel, top + high - (base + share) * high, 1, share * high);
      base += share;
    }
    canvas.globalAlpha = 1;
    if (!marked) continue;
    canvas.fillStyle = look.accent;
    canvas.fillRect(pixel, top + high - Math.max(1, marked * high), 1, Math.max(1, marked * high));
  }
}

/** The account of a track over time; pale where something else is highlighted. */
function drawTrack(canvas: CanvasRenderingContext2D, scene: Scene, look: Colours, line: Line, track: number): void {
  const top = HEAD + line.top - scene.scrolled + 1;
  const area = { left: 0, top, width: scene.width, height: line.height - 2 };
  const path = scene.profile.account.tracks[track]!;
  canvas.globalAlpha = scene.focus && !scene.focus.has(path) ? 0.4 : 1;
  drawBand(canvas, scene.profile, scene.span, look, area, track);
  canvas.globalAlpha = 1;
}

/** What is drawn in one go: a line's activations, or those of one colour. */
interface Slots {
  /** For each path its slot, -1 for none. */
  of: Int32Array;
  lines: Line[];
  colours: string[];
}

/** Slots for the lines that are seen, but for accounts; colours apart from each other if so wanted. */
function slotsOf(scene: Scene, seen: Line[], apart: boolean): Slots {
  const { profile, lanes } = scene;
  const lineOf = new Map(seen.map((line) => [line.lane, line]));
  const known = new Map<string, number>();
  const slots: Slots = { of: new Int32Array(profile.parent.length).fill(-1), lines: [], colours: [] };
  for (let path = 0; path < slots.of.length; path++) {
    const line = lineOf.get(lanes.of[path]!);
    if (!line || lanes.lanes[line.lane]!.track >= 0) continue;
    const colour = colourOf(profile, path);
    const key = `${line.lane} ${apart ? colour : ""}`;
    let slot = known.get(key);
    if (slot === undefined) {
      known.set(key, (slot = slots.lines.length));
      slots.lines.push(line);
      slots.colours.push(colour);
    }
    slots.of[path] = slot;
  }
  return slots;
}

/** Whether a path's colour says what its cycles are for: a track's own states do, if it has any. */
export function colouredByUse(profile: Profile, path: number): boolean {
  return profile.trackOf[path]! >= 0 && profile.frames[profile.frame[path]!]!.declares;
}

/** The name of a path's colour: by what its cycles are for, or by its kind. */
function colourOf(profile: Profile, path: number): string {
  if (colouredByUse(profile, path)) return colourName(useOf(profile, path));
  return kindColour(profile.frames[profile.frame[path]!]!.kind);
}

/** Too much to tell apart: how busy each lane was, as height; what shares a lane is stacked. */
function drawBusy(canvas: CanvasRenderingContext2D, scene: Scene, look: Colours, slots: Slots): void {
  const count = Math.floor(scene.width);
  if (!slots.lines.length) return;
  const found = binsOnce(scene.profile.runs, scene.profile.treeStart.length - 1, scene.span, count);
  const { busy, pointed } = coverage(
    scene.profile, found, count, slots.of, slots.lines.length, scene.focus,
  );
  const stacked = new Map<Line, Float32Array>();
  slots.lines.forEach((line, slot) => {
    const full = line.height - 2;
    const bottom = HEAD + line.top - scene.scrolled + line.height - 1;
    const below = stacked.get(line) ?? new Float32Array(count);
    const area = (shares: Float32Array, pile: boolean): void => {
      canvas.beginPath();
      for (let pixel = 0; pixel < count; pixel++) {
        const share = shares[slot * count + pixel]!;
        if (!(share > 0)) continue;
        // What was active at all is seen, however briefly.
        const height = Math.max(1, Math.min(1, share) * full);
        canvas.rect(pixel, bottom - below[pixel]! - height, 1, height);
        if (pile) below[pixel]! += share * full;
      }
      canvas.fill();
    };
    if (pointed) {
      canvas.globalAlpha = 0.4;
      canvas.fillStyle = look.of(slots.colours[slot]!) || look.faint;
      const under = below.slice();
      area(busy, true);
      canvas.globalAlpha = 1;
      canvas.fillStyle = look.accent;
      const over = below.slice();
      below.set(under);
      area(pointed, false);
      below.set(over);
    } else {
      canvas.fillStyle = look.of(slots.colours[slot]!) || look.faint;
      area(busy, true);
    }
    stacked.set(line, below);
  });
}

function drawSlices(canvas: CanvasRenderingContext2D, scene: Scene, look: Colours, slots: Slots): void {
  const { profile, span } = scene;
  for (const slice of slices(profile, span, slots.of, slots.lines.length)) {
    const line = slots.lines[slice.slot]!;
    box(canvas, scene, look, slice, HEAD + line.top - scene.scrolled + 1, line.height - 2);
  }
}

/** An activation as a box, with its name where that fits. */
function box(
  canvas: CanvasRenderingContext2D, scene: Scene, look: Colours, slice: { path: number; from: number; to: number }, top: number, high: number,
  name = scene.profile.frames[scene.profile.frame[slice.path]!]!.name,
): void {
  const { profile, span, width } = scene;
  const left = Math.max(-2, pixelOf(span, width, slice.from));
  const right = Math.min(width + 2, pixelOf(span, width, slice.to));
  const pointed = scene.focus?.has(slice.path);
  canvas.fillStyle = look.of(colourOf(profile, slice.path)) || look.faint;
  canvas.globalAlpha = scene.focus && !pointed ? 0.4 : 1;
  const size = Math.max(0.5, right - left - (right - left > 3 ? 1 : 0));
  canvas.fillRect(left, top, size, high);
  canvas.globalAlpha = 1;
  if (pointed) {
    canvas.fillStyle = look.accent;
    canvas.fillRect(left, top + high - 2, size, 2);
  }
  const ink = colouredByUse(profile, slice.path) ? inkName(useOf(profile, slice.path)) : "on-box";
  if (right - left > 24) label(canvas, look.of(ink), name, left, right, top + high / 2 + 0.5);
}

function label(
  canvas: CanvasRenderingContext2D, colour: string, text: string, left: number, right: number, y: number,
): void {
  const from = Math.max(left, 0) + 3;
  const space = right - from - 3;
  if (space < 8) return;
  canvas.fillStyle = colour;
  let shown = text.length * 12 > 8 * space ? text.slice(0, Math.ceil(space / 4)) : text;
  if (canvas.measureText(shown).width > space) {
    while (shown && canvas.measureText(`${shown}…`).width > space) shown = shown.slice(0, -1);
    if (!shown) return;
    shown += "…";
  }
  canvas.fillText(shown, from, y);
}

/** A counter's sums, worked out once. */
export function summedOf(known: Map<Series, Summed>, series: Series): Summed {
  let summed = known.get(series);
  if (!summed) known.set(series, (summed = new Summed(series.intervals())));
  return summed;
}

function drawCounter(
  canvas: CanvasRenderingContext2D, scene: Scene, look: Colours, line: Line, series: Series,
): void {
  const summed = summedOf(scene.summed, series);
  const { least, greatest } = summed;
  const count = Math.floor(scene.width);
  const top = HEAD + line.top - scene.scrolled + 2;
  const full = line.height - 4;
  const y = (value: number): number => top + full - ((value - least) / (greatest - least || 1)) * full;
  const { mean, low, high } = summed.curve(scene.span, count);
  canvas.fillStyle = look.counter;
  canvas.globalAlpha = 0.3;
  canvas.beginPath();
  for (let pixel = 0; pixel < count; pixel++) {
    if (high[pixel]! > low[pixel]!) canvas.rect(pixel, y(high[pixel]!), 1, y(low[pixel]!) - y(high[pixel]!));
  }
  canvas.fill();
  canvas.globalAlpha = 1;
  canvas.beginPath();
  for (let pixel = 0; pixel < count; pixel++) {
    if (Number.isNaN(mean[pixel])) continue;
    const zero = y(0);
    const at = y(mean[pixel]!);
    canvas.rect(pixel, Math.min(at, zero), 1, Math.max(1, Math.abs(zero - at)));
  }
  canvas.fill();
  drawValues(canvas, scene, look, summed, top + full / 2);
}

/** Numbers in the intervals that are wide enough for them. */
function drawValues(
  canvas: CanvasRenderingContext2D, scene: Scene, look: Colours, summed: Summed, y: number,
): void {
  const { start, end, value } = summed.intervals;
  const first = Math.max(0, summed.at(scene.span.from));
  if (summed.at(scene.span.to) - first > scene.width / 12) return;
  for (let i = first; i < start.length && start[i]! < scene.span.to; i++) {
    const left = pixelOf(scene.span, scene.width, start[i]!);
    const right = pixelOf(scene.span, scene.width, end[i]!);
    const text = number(value[i]!);
    const size = canvas.measureText(text).width;
    if (right - left < size + 8 || right < 0) continue;
    canvas.fillStyle = look.page;
    canvas.fillRect(Math.max(left, 0) + 2, y - 7, size + 4, 14);
    canvas.fillStyle = look.text;
    canvas.fillText(text, Math.max(left, 0) + 4, y);
  }
}
