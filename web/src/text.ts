/** How numbers are written: as the Python side writes them, so that both say the same. */

/** An integer with separators: `1,489,329`. */
export function number(value: number): string {
  return Math.round(value).toString().replace(/\B(?=(\d{3})+$)/g, ",");
}

/** At most one decimal: `12`, `4.3`. */
export function decimal(value: number): string {
  const tenths = Math.round(value * 10);
  const text = number(Math.floor(tenths / 10));
  return tenths % 10 ? `${text}.${tenths % 10}` : text;
}

/**
 * A share of integers in percent, rounded half up: `48.5 %`. What is not zero is never shown as
 * zero, nor what is not all as all.
 */
export function percent(part: number, whole: number): string {
  if (whole <= 0) return "0.0 %";
  // In tenths of a percent; beyond 2^53 / 1000 cycles the last digit may be off.
  const units = Math.floor((part * 2000 + whole) / (2 * whole));
  if (units === 0 && part > 0) return "<0.1 %";
  if (units === 1000 && part < whole) return ">99.9 %";
  return `${Math.floor(units / 10)}.${units % 10} %`;
}

/** `1 cycle`, `2 cycles`. */
export function cycles(value: number): string {
  return inUnit(value, "cycles");
}

/** As much of an account's unit: `1 thread-cycle`, `2.5 cycles`. */
export function inUnit(value: number, unit: string): string {
  return `${decimal(value)} ${value === 1 ? unit.replace(/s$/, "") : unit}`;
}

const TIMES: [unit: string, picoseconds: number][] = [["s", 1e12], ["ms", 1e9], ["µs", 1e6], ["ns", 1e3], ["ps", 1]];

/** A multiple of a step on an axis to this end, all in picoseconds: all labels in ns, or all in µs … */
export function time(picoseconds: number, step: number, end: number): string {
  const [unit, size] = TIMES.find(([, size]) => end >= size) ?? ["ps", 1];
  const digits = Math.max(0, Math.ceil(Math.log10(size / step) - 1e-9));
  return `${(picoseconds / size).toFixed(digits)} ${unit}`;
}

/** A time in picoseconds, as a person would say it. */
export function duration(picoseconds: number): string {
  for (const [unit, size] of TIMES.slice(0, -1)) {
    if (picoseconds >= size) return `${Number((picoseconds / size).toPrecision(4))} ${unit}`;
  }
  return `${picoseconds} ps`;
}

const KINDS: Record<string, string> = {
  cell: "cells",
  control: "control blocks",
  group: "groups",
  primitive: "primitives",
  process: "processes",
  thread: "threads",
  state: "states",
  loop: "loops",
  stage: "stages",
};

/** The plural name of a kind of frame. */
export function kindName(kind: string): string {
  return KINDS[kind] ?? `${kind}s`;
}

/** The style sheet's name of a kind's colour. */
export function kindColour(kind: string): string {
  return `k-${kind in KINDS || kind === "run" ? kind : "other"}`;
}

/** With a capital letter in front. */
export function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** As much of a text as there is space for, in letters. */
export function fitting(text: string, space: number): string {
  return text.length <= space ? text : `${text.slice(0, space - 1)}…`;
}

const OUTER = 3; // of a long stack the outermost that are told
const INNER = 4;

/** A stack without what is in the middle of it, if it is long. */
export function shortened(names: string[]): string[] {
  const left = names.length - OUTER - INNER;
  return left < 2 ? names : [...names.slice(0, OUTER), `… ${number(left)} more …`, ...names.slice(-INNER)];
}
