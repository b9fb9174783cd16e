/** One search for all views: a text, or a regular expression; upper and lower case are alike. */

import { computed } from "@preact/signals";
import type { Series } from "./data.ts";
import { activeCycles } from "./derive.ts";
import { find, profile, weights } from "./state.ts";

export type Matcher = (text: string) => boolean;

/** What a search matches: what contains it as it is written, or as an expression if it is one. */
export function matcherOf(text: string): Matcher | null {
  if (!text) return null;
  const wanted = text.toLowerCase();
  let pattern: RegExp | null = null;
  try {
    pattern = new RegExp(text, "i");
  } catch {
    // Then it is text alone, such as `a[`.
  }
  return (other) => other.toLowerCase().includes(wanted) || (pattern?.test(other) ?? false);
}

export const matcher = computed<Matcher | null>(() => matcherOf(find.value));

/** A frame in an instance whose name is found. */
export interface FoundFrame {
  frame: number;
  instance: number;
  paths: number[];
  cycles: number;
}

/** A line of a source text that is found. */
export interface FoundLine {
  file: string;
  line: number;
  text: string;
}

export interface Found {
  frames: FoundFrame[];
  lines: FoundLine[];
  series: Series[];
  paths: Set<number>;
}

/** All that is found in the profile that is shown; null while nothing is searched. */
export const found = computed<Found | null>(() => {
  const matches = matcher.value;
  if (!matches) return null;
  const shown = profile.value;
  const named = shown.frames.map((frame) => matches(frame.name));
  const places = new Map<string, FoundFrame>();
  const of = new Int32Array(shown.parent.length).fill(-1);
  const number = new Map<string, number>();
  shown.frame.forEach((frame, path) => {
    if (!named[frame]) return;
    const key = `${frame} ${shown.instance[path]}`;
    let one = places.get(key);
    if (!one) {
      places.set(key, (one = { frame, instance: shown.instance[path]!, paths: [], cycles: 0 }));
      number.set(key, number.size);
    }
    one.paths.push(path);
    of[path] = number.get(key)!;
  });
  const frames = [...places.values()];
  activeCycles(shown, weights.value, of, frames.length).forEach((cycles, at) => (frames[at]!.cycles = cycles));
  frames.sort((a, b) => b.cycles - a.cycles);
  const lines = shown.sources.flatMap(({ file, parts }) =>
    parts.flatMap(([first, texts]) =>
      texts.flatMap((text, at) => (matches(text) || matches(`${file}:${first + at}`) ? [{ file, line: first + at, text }] : []))));
  const series = shown.series.filter((one) => matches(one.name));
  return { frames, lines, series, paths: new Set(frames.flatMap((one) => one.paths)) };
});

/** The class of what is found by one of its texts; empty while nothing is searched. */
export function hitClass(...texts: string[]): string {
  return matcher.value && texts.some(matcher.value) ? " hit" : "";
}
