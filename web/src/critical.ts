/** The figures of the critical path beside frames and lines: each as Python found it. */

import type { CriticalKey, Profile } from "./data.ts";
import { number } from "./text.ts";

const known = new WeakMap<Profile, Map<string, CriticalKey[]>>();

/** The keys of a frame in an instance; of threads, which share a program, those of the frame. */
export function keysOf(shown: Profile, frame: number, instance: string): CriticalKey[] {
  const { critical } = shown;
  if (!critical) return [];
  let found = known.get(shown);
  if (!found) {
    known.set(shown, (found = new Map()));
    for (const one of critical.keys) {
      for (const key of [`${one.frame}`, `${one.frame} ${one.instance}`]) found.set(key, [...(found.get(key) ?? []), one]);
    }
  }
  const exact = found.get(`${frame} ${instance}`);
  return exact ?? (shown.account.tracks.length ? (found.get(`${frame}`) ?? []) : []);
}

/** The keys of some call paths, each once. */
export function keysOfPaths(shown: Profile, paths: Iterable<number>): CriticalKey[] {
  return [...new Set([...paths].flatMap((path) => keysOf(shown, shown.frame[path]!, shown.instances[shown.instance[path]!]!)))];
}

export interface Figures {
  /** Own cycles on the critical path: these add up. */
  critical: number;
  /** The least slack; null if that is not known. */
  slack: number | null;
  /** The greatest leverage; null likewise. */
  leverage: number | null;
}

/** The figures of several keys together; null for none. */
export function figuresOf(keys: CriticalKey[]): Figures | null {
  if (!keys.length) return null;
  return {
    critical: keys.reduce((sum, one) => sum + one.critical, 0),
    slack: keys.reduce<number | null>((least, one) => (least === null || one.slack === null ? null : Math.min(least, one.slack)), Infinity),
    leverage: keys.reduce<number | null>(
      (most, one) => (most === null || one.saved === null ? null : Math.max(most, one.times ? one.saved / one.times : 0)), 0,
    ),
  };
}

/** Leverage as a share of a cycle: `100.0 %`; empty if it is not known. */
export function leverageText({ leverage }: Figures): string {
  return leverage === null ? "" : `${(100 * leverage).toFixed(1)} %`;
}

/** Slack in cycles; empty if it is not known. */
export function slackText({ slack }: Figures): string {
  return slack === null ? "" : number(slack);
}
