/** What changes without pause, as while a hand drags or a word is typed, is one step of the page's history. */

const PAUSE = 700; // ms

type Kind = "wheel" | "key" | "word";

let number = 0;
let kind: Kind | "" = "";
let last = 0;
let held = false;
let stroking = false;
let ended = (): void => {};

/** A movement begins that lasts until `release`: all that changes meanwhile is one step. */
export function hold(): void {
  number++;
  held = true;
}

export function release(): void {
  if (!held) return;
  ended();
  held = false;
  kind = "";
}

/** Call this before a movement is over. */
export function onRelease(act: () => void): void {
  ended = act;
}

/** Do what a key or a wheel does: what such do that follow each other quickly is one step. */
export function stroke(of: Kind, act: () => void): void {
  if (held) return act();
  const now = performance.now();
  if (of !== kind || now - last > PAUSE) number++;
  kind = of;
  last = now;
  stroking = true;
  act();
  stroking = false;
}

/** The movement that changes something just now: its number, and whether it does so many times a second. */
export function gesture(): { number: number; lively: boolean } {
  if (held) return { number, lively: true };
  return stroking ? { number, lively: kind === "wheel" } : { number: 0, lively: false };
}
