/**
 * The state of the page in its address, so that a link shows what its sender saw, a reload keeps it,
 * and back undoes: `#source?cycles=2-5&mark=…`. Before the question mark is where the page was led.
 */

import { batch, effect } from "@preact/signals";
import type { Position, Profile } from "./data.ts";
import type { Span } from "./derive.ts";
import { gesture, onRelease } from "./gesture.ts";
import { openLanes } from "./reveal.ts";
import {
  FIRST_ORDER, type FlameChoice, type Focus, anchor, changes, choose, current, find, firstFlame, firstTable, flame, flameZoom, focus, look, order,
  profile, profiles, scheduled, select, selection, sourceFile, sourceLevel, table, view, whole,
} from "./state.ts";
import { lengthsOf, textOfLengths } from "./whatif.ts";

/** What an address says of the flame graph, where that is not as at first. */
const FLAME: [name: string, field: keyof FlameChoice][] = [
  ["width", "scaled"], ["generated", "hideGenerated"], ["inverted", "bottomUp"], ["top", "rootOnTop"], ["apart", "merged"], ["colour", "byUse"],
];

function spanText({ from, to }: Span): string {
  const short = (value: number): string => String(Number(value.toFixed(3)));
  return `${short(from)}-${short(to)}`;
}

function spanOf(text: string | null): Span | null {
  const [from, to] = (text ?? "").split("-").map(Number);
  return from !== undefined && to !== undefined && to > from ? { from, to } : null;
}

/** Numbers as ranges in base 36, each as far from the one before it: `0-5,7,2`. */
export function packed(numbers: Iterable<number>): string {
  const parts: string[] = [];
  const sorted = [...numbers].sort((a, b) => a - b);
  let before = 0;
  for (let i = 0; i < sorted.length; ) {
    let last = i;
    while (last + 1 < sorted.length && sorted[last + 1] === sorted[last]! + 1) last++;
    const gap = (sorted[i]! - before).toString(36);
    parts.push(last > i ? `${gap}-${(last - i).toString(36)}` : gap);
    before = sorted[last]!;
    i = last + 1;
  }
  return parts.join(",");
}

/** The numbers below a limit that were packed. */
export function unpacked(text: string, limit: number): number[] {
  const found: number[] = [];
  let at = 0;
  for (const part of text.split(",")) {
    const [gap, more] = part.split("-").map((word) => Number.parseInt(word, 36));
    if (!(gap! >= 0)) break;
    at += gap!;
    for (let end = at + (more! >= 0 ? more! : 0); at < end && at < limit; at++) found.push(at);
    if (at >= limit) break;
    found.push(at);
  }
  return found;
}

/** A label from an address: of one line, and in the direction in which it is read. */
function labelOf(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "\uFFFD").slice(0, 300);
}

function written(): string {
  const found = new URLSearchParams();
  const add = (name: string, value: string, usual = ""): void => {
    if (value !== usual) found.set(name, value);
  };
  const shown = profile.value;
  add("profile", String(current.value), "0");
  if (selection.value) add("cycles", spanText(selection.value));
  if (view.value.from !== 0 || view.value.to !== whole.value.to) add("shown", spanText(view.value));
  if (focus.value) {
    add("mark", packed(focus.value.paths));
    found.set("as", focus.value.label);
    const { line } = focus.value;
    if (line) add("line", `${line.level}\n${line.file}\n${line.line}`);
  }
  add("level", sourceLevel.value);
  add("file", sourceFile.value);
  add("table", table.value, firstTable(shown));
  const { column, descending } = order.value;
  if (column !== FIRST_ORDER.column || !descending) add("sort", `${descending ? "-" : ""}${column}`);
  const usual = firstFlame(shown);
  add("flame", FLAME.filter(([, field]) => flame.value[field] !== usual[field]).map(([name]) => name).join(","));
  add("zoom", flameZoom.value.replaceAll(" ", "."));
  add("loop", String(scheduled.value), "-1");
  add("find", find.value);
  add("whatif", textOfLengths(changes.value));
  const text = found.toString();
  return anchor.value || text ? `#${anchor.value}${text && `?${text}`}` : "";
}

/** Make the page show what an address says. */
function restore(fragment: string): void {
  const text = fragment.replace(/^#/, "");
  const cut = text.indexOf("?");
  const said = new URLSearchParams(cut < 0 ? "" : text.slice(cut + 1));
  const get = (name: string): string => said.get(name) ?? "";
  batch(() => {
    const index = Number(get("profile"));
    choose(index in profiles.value ? index : 0);
    const shown = profile.value;
    anchor.value = cut < 0 ? text : text.slice(0, cut);
    select(spanOf(said.get("cycles")));
    const seen = spanOf(said.get("shown"));
    if (seen) look(seen);
    focus.value = focusOf(shown, said);
    sourceLevel.value = get("level");
    sourceFile.value = get("file");
    if (get("table") in shown.tables) table.value = get("table");
    if (get("sort")) order.value = { column: get("sort").replace(/^-/, ""), descending: get("sort").startsWith("-") };
    const other = new Set(get("flame").split(","));
    const usual = firstFlame(shown);
    const changed = FLAME.filter(([name]) => other.has(name)).map(([, field]) => [field, !usual[field]]);
    flame.value = { ...usual, ...Object.fromEntries(changed) };
    flameZoom.value = get("zoom").replaceAll(".", " ");
    if (Number(get("loop") || -1) in shown.schedules) scheduled.value = Number(get("loop"));
    find.value = get("find").slice(0, 300);
    changes.value = lengthsOf(get("whatif"), shown);
    if (focus.value) openLanes(focus.value);
  });
}

function focusOf(shown: Profile, said: URLSearchParams): Focus | null {
  const label = said.get("as");
  if (label === null) return null;
  const [level, file, number] = (said.get("line") ?? "").split("\n");
  const line: Position | null = level !== undefined && file !== undefined && Number(number) > 0 ? { level, file, line: Number(number) } : null;
  return { label: labelOf(label), paths: new Set(unpacked(said.get("mark") ?? "", shown.parent.length)), line };
}

/** Keep the address and the page alike from now on. */
export function remember(): void {
  let now = location.hash;
  let last = 0; // the movement that made the last step
  let going = 0; // the one that made what is not written yet
  let timer = 0;
  restore(now);
  const urlOf = (text: string): string => text || location.pathname + location.search;
  const write = (): void => {
    clearTimeout(timer);
    timer = 0;
    const text = written();
    if (text === now) return;
    if (going && going === last) history.replaceState(null, "", urlOf(text));
    else history.pushState(null, "", urlOf(text));
    now = text;
    last = going;
  };
  // An old link may name what is no more: then the address is as the page is.
  now = written();
  history.replaceState(null, "", urlOf(now));
  effect(() => {
    if (written() === now) return;
    // A browser refuses hundreds of steps in a moment.
    const { number, lively } = gesture();
    if (timer && number !== going) write(); // the movement before was another
    going = number;
    if (!lively) queueMicrotask(write);
    else if (!timer) timer = window.setTimeout(write, 150);
  });
  onRelease(write);
  window.addEventListener("pagehide", write);
  window.addEventListener("popstate", () => {
    clearTimeout(timer);
    timer = last = 0;
    now = location.hash;
    restore(now);
  });
}
