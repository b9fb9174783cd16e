import { useMemo, useState } from "preact/hooks";
import { Boxes, nameOf } from "./Boxes.tsx";
import { account, together, tracksIn } from "./account.ts";
import type { Profile, Use } from "./data.ts";
import { treeCycles } from "./derive.ts";
import { Ladders } from "./Ladder.tsx";
import { KindLegend, Legend } from "./Legend.tsx";
import { fill } from "./paint.ts";
import { type Node, layOut } from "./flame.ts";
import { choose, current, profiles } from "./state.ts";
import { UseBar, tracksText } from "./Summary.tsx";
import { type Head, Table } from "./Table.tsx";
import { inUnit, number, percent } from "./text.ts";
import { drawnFlame } from "./tracks.ts";

/** All profiles on one scale. */
export function Compare() {
  const [open, setOpen] = useState(false);
  const all = profiles.value;
  const longest = Math.max(...all.map((profile) => profile.cycles), 1);
  const uses = usesOf(all);
  const units = all.map((profile) => {
    const sums = together(profile, account(profile, { from: 0, to: profile.cycles }));
    const mine = new Map(profile.uses.map((use, index) => [use.label, sums[index]!]));
    return uses.map((use) => mine.get(use.label) ?? 0);
  });
  const used = uses.flatMap((use, index) => (use.work || units.some((of) => of[index]) ? [index] : []));
  const tracks = all.map(tracksIn);
  const tracked = all.some((profile) => profile.account.tracks.length > 0);
  const mixed = new Set(all.map((profile) => profile.account.unit)).size > 1 || new Set(tracks).size > 1;
  return (
    <section id="compare" aria-labelledby="compare-title">
      <h2 id="compare-title">Side by side</h2>
      <Table part="compare" kind="compare" caption={`${mixed ? "Uses of cycles, in each profile's unit of measure" : `What ${all[0]!.account.unit} are for`}; bars have one scale, in cycles; changes are against the first profile`}
        heads={[["profile"], ["cycles", "n"], ["change", "n"], ["what for", "barcell"], ...used.map((index): Head => [<><i class="swatch" style={fill(uses[index]!)} />{uses[index]!.name}</>, "n"])]}>
        {all.map((profile, index) => (
          <tr class={index === current.value ? "pointed" : ""}>
            <th scope="row">
              <button type="button" class="link" onClick={() => choose(index)}>{profile.name}</button>
              {mixed && <small class="dim"> {profile.account.unit}{tracks[index]! > 1 && ` of ${tracksText(profile)}`}</small>}
            </th>
            <td class="n">{number(profile.cycles)}</td>
            <td class="n">{index ? change(profile.cycles, all[0]!.cycles) : ""}</td>
            <td class="barcell"><UseBar uses={uses} units={units[index]!} total={longest * tracks[index]!} /></td>
            {used.map((at) => {
              const mine = units[index]![at]!;
              const moved = mine - units[0]![at]!;
              const alike = tracks[index] === tracks[0] && profile.account.unit === all[0]!.account.unit;
              return (
                <td class="n">
                  {number(mine)}
                  {index > 0 && alike && moved !== 0 && <small class={moved > 0 ? "more" : "less"}> {signed(moved)}</small>}
                </td>
              );
            })}
          </tr>
        ))}
      </Table>
      <Ladders />
      <details class="beside" onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>Flame graphs on one scale</summary>
        {open && (tracked ? <Legend uses={used.map((index) => uses[index]!)} /> : <KindLegend profile={all[0]!} />)}
        {open && all.map((profile, index) => <Beside profile={profile} index={index} share={profile.cycles / longest} byUse={tracked} />)}
      </details>
    </section>
  );
}

/** A profile's whole flame graph, as wide as its cycles; a press shows the profile. */
function Beside(props: { profile: Profile; index: number; share: number; byUse: boolean }) {
  const { profile, index, byUse } = props;
  const { drawn, layout } = useMemo(() => {
    const span = { from: 0, to: profile.cycles };
    const made = drawnFlame(profile, span, treeCycles(profile, span), { scaled: true, hideGenerated: false, bottomUp: false, merged: true });
    return { drawn: made, layout: layOut(made.graph, made.graph.root, 0.001 / (props.share || 1)) };
  }, [profile]);
  const { graph, total } = drawn;
  const [told, setTold] = useState<Node | null>(null);
  const name = told ? `${nameOf(drawn.profile, told)}: ${inUnit(told.active, profile.account.unit)} (${percent(told.active, total)})` : "";
  return (
    <div style={{ width: `${Math.max(100 * props.share, 1)}%` }}>
      <p class="note">{profile.name}, {number(profile.cycles)} cycles {name && `· ${name}`}</p>
      <Boxes profile={drawn.profile} graph={graph} zoomed={graph.root} boxes={layout.boxes} rows={layout.depth} rootOnTop={false}
        found={null} pointed={null} total={total} uses={byUse ? drawn.uses : null} label={`Call paths of ${profile.name}`}
        tell={setTold} press={() => choose(index)} back={() => {}} />
    </div>
  );
}

/** The uses of all profiles, each once, in the order of every list. */
function usesOf(all: Profile[]): Use[] {
  const found = new Map(all.flatMap((profile) => profile.uses.map((use) => [use.label, use])));
  const before = (a: Use, b: Use): number => a.rank[0] - b.rank[0] || a.rank[1] - b.rank[1] || (a.label < b.label ? -1 : 1);
  return [...found.values()].sort(before);
}

function signed(value: number): string {
  return value > 0 ? `+${number(value)}` : `−${number(-value)}`;
}

function change(now: number, before: number): string {
  if (now === before) return "none";
  return `${signed(now - before)} (${now > before ? "+" : "−"}${percent(Math.abs(now - before), before)})`;
}
