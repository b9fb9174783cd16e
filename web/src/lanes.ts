/** The timeline's lanes: one for each level of nesting in each row. */

import type { Profile, Row, Series } from "./data.ts";
import { kindName } from "./text.ts";

/** A lane of activations, or of a counter. */
export interface Lane {
  label: string;
  kind: string;
  /** Nesting inside its row, for the label's sake. */
  level: number;
  series: Series | null;
  /** The track whose account it shows, -1 for none. */
  track: number;
  /** It shows the critical path. */
  critical?: boolean;
}

/** Lanes that open and close together. */
export interface Group {
  key: string;
  label: string;
  /** How deep it is indented. */
  depth: number;
  /** The lane of the group itself (a cell's own activity), -1 for none. */
  own: number;
  lanes: number[];
  groups: Group[];
}

export interface Lanes {
  lanes: Lane[];
  /** For each path the lane on which it is drawn. */
  of: Int32Array;
  groups: Group[];
}

const NAMED = 3; // things on a lane that its label tells

/** Whether a lane stands for its group: a cell's activity, or a track's, that the group is called after. */
function standsFor(path: number, group: Group, profile: Profile): boolean {
  const { kind, name, track } = profile.frames[profile.frame[path]];
  if (group.own >= 0) return false;
  return kind === "cell" || (track && (group.key === name || group.key.endsWith(`.${name}`)));
}

/** The track that a row shows, with what is in it; -1 for none, or where several alternate on it. */
function trackOfRow(profile: Profile, row: Row): number {
  const track = profile.trackOf[row.paths[0]];
  const whole = profile.frames[profile.frame[row.paths[0]]].track;
  return whole && row.paths.every((path) => profile.trackOf[path] === track) ? track : -1;
}

/** The group of a row: its instance; of a track that is no instance one of its own, in there. */
function groupName(profile: Profile, row: Row): string {
  const instance = profile.instances[row.instance];
  const { name } = profile.frames[profile.frame[row.paths[0]]];
  if (trackOfRow(profile, row) < 0 || instance === name || instance.endsWith(`.${name}`)) return instance;
  return instance ? `${instance}.${name}` : name;
}

/** Arranges rows and counters by instance. */
export function arrange(profile: Profile): Lanes {
  const lanes: Lane[] = [];
  const of = new Int32Array(profile.parent.length).fill(-1);
  const groups = new Map<string, Group>();
  const top: Group[] = [];
  const frames = new Map<number, Set<number>>();
  const ofTrack = new Map<number, Group>();

  const groupOf = (instance: string): Group => {
    let group = groups.get(instance);
    if (!group) {
      const above = instance.lastIndexOf(".");
      const parent = above > 0 ? groups.get(instance.slice(0, above)) : undefined;
      group = {
        key: instance,
        label: parent ? instance.slice(above + 1) : instance || "run",
        depth: parent ? parent.depth + 1 : 0,
        own: -1,
        lanes: [],
        groups: [],
      };
      groups.set(instance, group);
      (parent ? parent.groups : top).push(group);
    }
    return group;
  };
  const folder = (group: Group, label: string): Group => {
    let found = group.groups.find((inner) => inner.key === `${group.key}\0${label}`);
    if (!found) {
      found = { key: `${group.key}\0${label}`, label, depth: group.depth + 1, own: -1, lanes: [], groups: [] };
      group.groups.unshift(found);
    }
    return found;
  };

  for (const row of profile.rows) {
    const group = groupOf(groupName(profile, row));
    const inside = new Set(row.paths);
    const levels = new Map<number, number>();
    for (const path of row.paths) {
      let level = 0;
      for (let p = profile.parent[path]; p >= 0; p = profile.parent[p]) if (inside.has(p)) level++;
      let lane = levels.get(level);
      if (lane === undefined) {
        levels.set(level, (lane = lanes.length));
        const first = profile.frames[profile.frame[path]];
        const arm = row.lane ? `, arm ${row.lane + 1}` : "";
        const more = row.extra ? ` (${row.extra + 1})` : "";
        const label = row.kind === "primitive" || row.kind === "cell" || first.track
          ? `${first.name}${more}`
          : `${first.kind === "control" ? "control" : kindName(first.kind)}${arm}${more}`;
        const track = first.track ? trackOfRow(profile, row) : -1;
        lanes.push({ label, kind: row.kind, level, series: null, track });
        if (level === 0 && standsFor(path, group, profile)) {
          group.own = lane;
          group.label = first.name;
          if (track >= 0) ofTrack.set(path, group);
        } else if (row.kind === "primitive") folder(group, "primitives").lanes.push(lane);
        else group.lanes.push(lane);
      }
      of[path] = lane;
      frames.get(lane)?.add(profile.frame[path]) ?? frames.set(lane, new Set([profile.frame[path]]));
    }
  }
  // A lane is called by what is on it.
  for (const [lane, on] of frames) {
    if (lanes[lane].track >= 0) continue;
    const names = [...new Set([...on].map((frame) => profile.frames[frame].name))];
    const more = names.length - NAMED;
    lanes[lane].label = names.slice(0, NAMED).join(", ") + (more > 0 ? ` and ${more} more` : "");
  }
  for (const series of profile.series) {
    const group = ofTrack.get(series.path) ?? groups.get(series.track) ?? groupOf(trackOf(profile, series));
    const register = series.metric === "fsm" || series.metric === "par done";
    const unit = series.unit && series.unit !== "state" ? ` [${series.unit}]` : "";
    lanes.push({ label: `${series.name}${unit}`, kind: "counter", level: 0, series, track: -1 });
    (register ? folder(group, "control registers") : group).lanes.push(lanes.length - 1);
  }
  if (profile.critical?.path?.what.length) {
    top.unshift({ key: "\0critical", label: "critical path", depth: 0, own: lanes.length, lanes: [], groups: [] });
    lanes.push({ label: "critical path", kind: "critical", level: 0, series: null, track: -1, critical: true });
  }
  return { lanes, of, groups: top };
}

/** The instance to which a counter belongs: where its path is, if its track is called like that. */
function trackOf(profile: Profile, series: Series): string {
  const instance = series.path < 0 ? "" : profile.instances[profile.instance[series.path]];
  return instance.endsWith(`.${series.track}`) ? instance : series.track;
}

/** The keys of the groups that have to be open for some lanes to be seen. */
export function groupsAbove(arranged: Lanes, wanted: ReadonlySet<number>): Set<string> {
  const found = new Set<string>();
  const visit = (group: Group): boolean => {
    const inside = group.groups.map(visit).includes(true) || group.lanes.some((lane) => wanted.has(lane));
    if (inside) found.add(group.key);
    return inside || wanted.has(group.own);
  };
  arranged.groups.forEach(visit);
  return found;
}

/** A line of the timeline's list as it is shown. */
export interface Line {
  lane: number;
  label: string;
  depth: number;
  /** The group that the line opens and closes, if it is one. */
  group: Group | null;
  open: boolean;
  top: number;
  height: number;
}

const HEIGHT = 17;
const COUNTER = 30;

/** The lines that are shown with some groups open. */
export function shownLines(arranged: Lanes, open: ReadonlySet<string>): Line[] {
  const lines: Line[] = [];
  let top = 0;
  const add = (line: Omit<Line, "top" | "height">): void => {
    const height = line.lane >= 0 && arranged.lanes[line.lane].series ? COUNTER : HEIGHT;
    lines.push({ ...line, top, height });
    top += height;
  };
  const visit = (group: Group): void => {
    const is = open.has(group.key);
    const empty = !group.lanes.length && !group.groups.length;
    add({ lane: group.own, label: group.label, depth: group.depth, group: empty ? null : group, open: is });
    if (!is) return;
    let last = "";
    const lane = (which: number): void => {
      const { label } = arranged.lanes[which];
      add({ lane: which, label: label === last ? "" : label, depth: group.depth + 1, group: null, open: false });
      last = label;
    };
    group.lanes.filter((which) => !arranged.lanes[which].series).forEach(lane);
    group.groups.forEach(visit);
    group.lanes.filter((which) => arranged.lanes[which].series).forEach(lane);
  };
  arranged.groups.forEach(visit);
  return lines;
}

/** The groups that are open at first: the outermost, and what they call if that is little. */
export function firstOpen(arranged: Lanes): Set<string> {
  const open = new Set<string>();
  let lines = 0;
  let level = arranged.groups;
  while (level.length) {
    const plain = level.filter((group) => !group.key.includes("\0"));
    lines += plain.reduce((sum, group) => sum + group.lanes.length + group.groups.length, 0);
    if (open.size && lines > 40) break;
    // Tracks stay closed: their lanes below each other show who waits while others work.
    const opened = plain.filter((group) => !(group.own >= 0 && arranged.lanes[group.own].track >= 0));
    for (const group of opened) open.add(group.key);
    level = opened.flatMap((group) => group.groups);
  }
  return open;
}
