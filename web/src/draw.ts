/** Draws the timeline's visible lines on a canvas. */

import { type Bins, Summed, bins, coverage, slices } from "./bins.ts";
import type { Profile, Series } from "./data.ts";
import { type Span, stretchAt } from "./derive.ts";
import type { Lanes, Line } from "./lanes.ts";
import { number } from "./text.ts";

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
export const CLASSES = 46;
export const HEAD = RULER + CLASSES;
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
  drawClasses(canvas, scene.profile, scene.span, look, {
    left: 0, top: RULER, width: scene.width, height: CLASSES - 4,
  });
  drawSelection(canvas, scene, look);
}

/** Where a cycle is on the screen. */
export function pixelOf(span: Span, width: number, cycle: number): number {
  return ((cycle - span.from) / (span.to - span.from)) * width;
}

function drawRuler(canvas: CanvasRenderingContext2D, scene: Scene, look: Colours): void {
  const { span, width, height } = scene;
  const about = ((span.to - span.from) / width) * 110;
  const power = 10 ** Math.floor(Math.log10(Math.max(about, 1)));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= about) ?? 10 * power;
  canvas.fillStyle = look.faint;
  for (let cycle = Math.ceil(span.from / step) * step; cycle < span.to; cycle += step) {
    const x = Math.round(pixelOf(span, width, cycle));
    canvas.globalAlpha = 0.25;
    canvas.fillRect(x, RULER - 5, 1, height);
    canvas.globalAlpha = 1;
    canvas.fillText(number(cycle), x + 3, RULER / 2);
  }
}

interface Area {
  left: number;
  top: number;
  width: number;
  height: number;
}

/** Classes of cycles, stacked: useful ones at the bottom. */
export function drawClasses(
  canvas: CanvasRenderingContext2D, profile: Profile, span: Span, look: Colours, area: Area,
): void {
  const count = Math.max(1, Math.floor(area.width));
  const found = bins(profile.classes, profile.classes.names.length, span, count);
  const step = (span.to - span.from) / count;
  const base = new Float64Array(count);
  profile.classes.names.forEach((name, index) => {
    canvas.fillStyle = look.of(`c-${name}`);
    canvas.beginPath();
    for (let pixel = 0; pixel < count; pixel++) {
      const share = Math.min(1, cyclesOf(found, pixel, index) / step);
      if (!share) continue;
      const height = share * area.height;
      canvas.rect(area.left + pixel, area.top + area.height - base[pixel]! - height, 1, height);
      base[pixel]! += height;
    }
    canvas.fill();
  });
}

function cyclesOf(found: Bins, pixel: number, what: number): number {
  for (let i = found.first[pixel]!; i < found.first[pixel + 1]!; i++) {
    if (found.what[i] === what) return found.cycles[i]!;
  }
  return 0;
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
  const slots = new Int32Array(lanes.lanes.length).fill(-1);
  const busy = seen.filter((line) => !lanes.lanes[line.lane]!.series);
  busy.forEach((line, index) => (slots[line.lane] = index));
  const { runs } = scene.profile;
  const many = stretchAt(runs.start, scene.span.to) - stretchAt(runs.start, scene.span.from);
  if (many > 2 * scene.width) drawBusy(canvas, scene, look, busy, slots);
  else drawSlices(canvas, scene, look, busy, slots);
  for (const line of seen) {
    const { series } = lanes.lanes[line.lane]!;
    if (series) drawCounter(canvas, scene, look, line, series);
  }
}

/** Too much to tell apart: how busy each lane was, as height. */
function drawBusy(
  canvas: CanvasRenderingContext2D, scene: Scene, look: Colours, lines: Line[], slots: Int32Array,
): void {
  const count = Math.floor(scene.width);
  const found = bins(scene.profile.runs, scene.profile.treeStart.length - 1, scene.span, count);
  const { busy, pointed } = coverage(
    scene.profile, found, count, scene.lanes.of, slots, lines.length, scene.focus,
  );
  lines.forEach((line, slot) => {
    const full = line.height - 2;
    const bottom = HEAD + line.top - scene.scrolled + line.height - 1;
    const area = (shares: Float32Array): void => {
      canvas.beginPath();
      canvas.moveTo(0, bottom);
      for (let pixel = 0; pixel < count; pixel++) {
        const share = shares[slot * count + pixel]!;
        // What was active at all is seen, however briefly.
        const y = bottom - (share > 0 ? Math.max(1, Math.min(1, share) * full) : 0);
        canvas.lineTo(pixel, y);
        canvas.lineTo(pixel + 1, y);
      }
      canvas.lineTo(count, bottom);
      canvas.fill();
    };
    canvas.fillStyle = look.of(`k-${scene.lanes.lanes[line.lane]!.kind}`);
    if (pointed) canvas.globalAlpha = 0.4;
    area(busy);
    canvas.globalAlpha = 1;
    if (pointed) {
      canvas.fillStyle = look.accent;
      area(pointed);
    }
  });
}

function drawSlices(
  canvas: CanvasRenderingContext2D, scene: Scene, look: Colours, lines: Line[], slots: Int32Array,
): void {
  const { profile, span, width } = scene;
  for (const slice of slices(profile, span, scene.lanes.of, slots, lines.length)) {
    const line = lines[slice.slot]!;
    const top = HEAD + line.top - scene.scrolled + 1;
    const left = Math.max(-2, pixelOf(span, width, slice.from));
    const right = Math.min(width + 2, pixelOf(span, width, slice.to));
    const frame = profile.frames[profile.frame[slice.path]!]!;
    const pointed = scene.focus?.has(slice.path);
    canvas.fillStyle = look.of(`k-${frame.kind}`);
    canvas.globalAlpha = scene.focus && !pointed ? 0.4 : 1;
    const box = Math.max(0.5, right - left - (right - left > 3 ? 1 : 0));
    canvas.fillRect(left, top, box, line.height - 2);
    canvas.globalAlpha = 1;
    if (pointed) {
      canvas.fillStyle = look.accent;
      canvas.fillRect(left, top + line.height - 4, box, 2);
    }
    if (right - left > 24) label(canvas, look.of("on-box"), frame.name, left, right, top + line.height / 2 - 0.5);
  }
}

function label(
  canvas: CanvasRenderingContext2D, colour: string, text: string, left: number, right: number, y: number,
): void {
  const from = Math.max(left, 0) + 3;
  const room = right - from - 3;
  if (room < 8) return;
  canvas.fillStyle = colour;
  let shown = text.length * 12 > 8 * room ? text.slice(0, Math.ceil(room / 4)) : text;
  if (canvas.measureText(shown).width > room) {
    while (shown && canvas.measureText(`${shown}…`).width > room) shown = shown.slice(0, -1);
    if (!shown) return;
    shown += "…";
  }
  canvas.fillText(shown, from, y);
}

function drawCounter(
  canvas: CanvasRenderingContext2D, scene: Scene, look: Colours, line: Line, series: Series,
): void {
  let summed = scene.summed.get(series);
  if (!summed) scene.summed.set(series, (summed = new Summed(series.intervals())));
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
