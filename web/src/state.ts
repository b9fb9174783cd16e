/** What the page remembers: which profile, which cycles, what is highlighted. */

import { computed, signal } from "@preact/signals";
import type { Profile } from "./data.ts";
import { type Span, treeCycles } from "./derive.ts";

/** What is highlighted in all views: some call paths under a name. */
export interface Focus {
  label: string;
  paths: Set<number>;
}

export const profiles = signal<Profile[]>([]);
export const current = signal(0);
export const profile = computed<Profile>(() => profiles.value[current.value]);

/** The cycles that flame graph, tables and source count; null: all. */
export const selection = signal<Span | null>(null);
/** The cycles that the timeline shows. */
export const view = signal<Span>({ from: 0, to: 1 });
export const focus = signal<Focus | null>(null);
/** The level and the file that the source view shows, if the profile has them. */
export const sourceLevel = signal("");
export const sourceFile = signal("");

export const whole = computed<Span>(() => ({ from: 0, to: profile.value.cycles }));
export const counted = computed<Span>(() => selection.value ?? whole.value);
export const countedCycles = computed(() => counted.value.to - counted.value.from);
export const weights = computed(() => treeCycles(profile.value, counted.value));

/** Show another profile; what was selected in the last has no meaning in it. */
export function choose(index: number): void {
  selection.value = null;
  focus.value = null;
  sourceLevel.value = "";
  sourceFile.value = "";
  current.value = index;
  view.value = whole.value;
}

/** Select cycles: whole ones inside the run, at least one; null for all. */
export function select(span: Span | null): void {
  if (!span) {
    selection.value = null;
    return;
  }
  const last = profile.value.cycles;
  const from = Math.max(0, Math.min(Math.floor(span.from), last - 1));
  const to = Math.max(from + 1, Math.min(Math.ceil(span.to), last));
  selection.value = from === 0 && to === last ? null : { from, to };
}

/** Show these cycles in the timeline, or as near to it as the run allows. */
export function look(span: Span): void {
  const last = profile.value.cycles;
  const length = Math.max(Math.min(span.to - span.from, last), Math.min(8, last));
  const from = Math.max(0, Math.min(span.from, last - length));
  view.value = { from, to: from + length };
}

/** Highlight something, or take it back if it is highlighted already. */
export function point(label: string, paths: Iterable<number>): void {
  const set = new Set(paths);
  const old = focus.value;
  const same = old && old.label === label && old.paths.size === set.size;
  focus.value = same ? null : { label, paths: set };
}

/** Show a file's lines in the source view; the address leads to the line. */
export function showLine(level: string, file: string): void {
  sourceLevel.value = level;
  sourceFile.value = file;
}
