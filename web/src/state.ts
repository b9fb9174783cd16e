/** What the page remembers: which profile, which cycles, what is highlighted, how each view shows it. */

import { batch, computed, signal } from "@preact/signals";
import type { Position, Profile } from "./data.ts";
import { type Span, treeCycles } from "./derive.ts";
import { type Lanes, arrange, firstOpen } from "./lanes.ts";

/** What is highlighted in all views: some call paths, and maybe a line, under a name. */
export interface Focus {
  label: string;
  paths: Set<number>;
  line: Position | null;
}

/** How the flame graph is drawn. */
export interface FlameChoice {
  scaled: boolean;
  hideGenerated: boolean;
  bottomUp: boolean;
  rootOnTop: boolean;
  merged: boolean;
  /** Colours say what cycles are for, or of what kind boxes are. */
  byUse: boolean;
}

/** By which column the table is sorted. */
export interface Order {
  column: string;
  descending: boolean;
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
/** The kind of frame that the table lists, if the profile has it. */
export const table = signal("");
export const FIRST_ORDER: Order = { column: "cycles", descending: true };
export const order = signal<Order>(FIRST_ORDER);
export const flame = signal<FlameChoice>(firstFlame(null));
/** The box that the flame graph is zoomed to, by its key; empty: all. */
export const flameZoom = signal("");
/** The loop whose schedule is shown, by its place in the list; -1: the one with most cycles. */
export const scheduled = signal(-1);
/** What is searched in all views. */
export const find = signal("");
/** Where links of the page led last: the id of an element. */
export const anchor = signal("");

/** What if: cycles that each activation of a definition takes instead, by the definition's number. */
export const changes = signal<ReadonlyMap<number, number>>(new Map());

export const lanes = computed<Lanes>(() => arrange(profile.value));
/** The groups of lanes that are open. */
export const open = signal<ReadonlySet<string>>(new Set());

export const whole = computed<Span>(() => ({ from: 0, to: profile.value.cycles }));
export const counted = computed<Span>(() => selection.value ?? whole.value);
export const countedCycles = computed(() => counted.value.to - counted.value.from);
export const weights = computed(() => treeCycles(profile.value, counted.value));

/** The flame graph as it is drawn at first. */
export function firstFlame(shown: Profile | null): FlameChoice {
  return { scaled: true, hideGenerated: false, bottomUp: false, rootOnTop: false, merged: true, byUse: shown?.stacks != null };
}

/** The table that is shown at first. */
export function firstTable(shown: Profile): string {
  const kinds = Object.keys(shown.tables);
  return ["group", "process", "state"].find((one) => kinds.includes(one)) ?? kinds[0] ?? "";
}

/** Show another profile; what was selected in the last has no meaning in it. */
export function choose(index: number): void {
  batch(() => {
    current.value = index;
    selection.value = null;
    focus.value = null;
    sourceLevel.value = "";
    sourceFile.value = "";
    table.value = firstTable(profile.value);
    order.value = FIRST_ORDER;
    flame.value = firstFlame(profile.value);
    flameZoom.value = "";
    scheduled.value = -1;
    changes.value = new Map();
    view.value = whole.value;
    open.value = firstOpen(lanes.value);
  });
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
