import type { Span } from "./derive.ts";
import { number, time } from "./text.ts";

/** Marks of the ruler: cycles and their labels; with a clock these are round times. */
export function ticks(span: Span, width: number, periodPs: number | null): [number, string][] {
  const one = periodPs ?? 1; // of the axis, a cycle
  const about = ((span.to - span.from) * one / width) * 110;
  const power = 10 ** Math.floor(Math.log10(Math.max(about, 1)));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= about) ?? 10 * power;
  const found: [number, string][] = [];
  for (let at = Math.ceil((span.from * one) / step) * step; at < span.to * one; at += step) {
    found.push([at / one, periodPs === null ? number(at) : time(at, step, span.to * one)]);
  }
  return found;
}
