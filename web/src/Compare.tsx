import { useMemo, useState } from "preact/hooks";
import { Boxes, nameOf } from "./Boxes.tsx";
import type { Profile } from "./data.ts";
import { classCycles, treeCycles } from "./derive.ts";
import { Ladders } from "./Ladder.tsx";
import { type Node, flame, layOut } from "./flame.ts";
import { choose, current, profiles } from "./state.ts";
import { ClassBar } from "./Summary.tsx";
import { type Head, Table } from "./Table.tsx";
import { className, number, percent } from "./text.ts";

/** All profiles on one scale. */
export function Compare() {
  const [open, setOpen] = useState(false);
  const all = profiles.value;
  const longest = Math.max(...all.map((profile) => profile.cycles), 1);
  const names = [...new Set(all.flatMap((profile) => profile.classes.names))];
  const cycles = all.map((profile) => {
    const found = classCycles(profile, { from: 0, to: profile.cycles });
    return names.map((name) => found[profile.classes.names.indexOf(name)] ?? 0);
  });
  const used = names.filter((_, index) => cycles.some((of) => of[index]));
  return (
    <section id="compare" aria-labelledby="compare-title">
      <h2 id="compare-title">Side by side</h2>
      <Table part="compare" caption="Cycles by class (thread-cycles by state, where there are threads); bars have one scale; changes are against the first profile"
        heads={[["profile"], ["cycles", "n"], ["change", "n"], ...used.map((name): Head => [className(name), "n"]), ["cycles", "barcell"]]}>
        {all.map((profile, index) => (
          <tr class={index === current.value ? "pointed" : ""}>
            <th scope="row">
              <button type="button" class="link" onClick={() => choose(index)}>{profile.name}</button>
            </th>
            <td class="n">{number(profile.cycles)}</td>
            <td class="n">{index ? change(profile.cycles, all[0]!.cycles) : ""}</td>
            {used.map((name) => {
              const at = names.indexOf(name);
              const mine = cycles[index]![at]!;
              const moved = mine - cycles[0]![at]!;
              return (
                <td class="n">
                  {number(mine)}
                  {index > 0 && moved !== 0 && <small class={moved > 0 ? "more" : "less"}> {signed(moved)}</small>}
                </td>
              );
            })}
            <td class="barcell"><ClassBar names={names} cycles={cycles[index]!} total={longest * profile.classes.per} /></td>
          </tr>
        ))}
      </Table>
      <Ladders />
      <details class="beside" onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>Flame graphs on one scale</summary>
        {open && all.map((profile, index) => <Beside profile={profile} index={index} share={profile.cycles / longest} />)}
      </details>
    </section>
  );
}

/** A profile's whole flame graph, as wide as its cycles; a press shows the profile. */
function Beside(props: { profile: Profile; index: number; share: number }) {
  const { profile, index } = props;
  const { graph, layout } = useMemo(() => {
    const weights = treeCycles(profile, { from: 0, to: profile.cycles });
    const made = flame(profile, weights, { scaled: true, hideGenerated: false, bottomUp: false });
    return { graph: made, layout: layOut(made, made.root, 0.001 / (props.share || 1)) };
  }, [profile]);
  const [told, setTold] = useState<Node | null>(null);
  const name = told ? `${nameOf(profile, told)}: ${number(told.active)} cycles (${percent(told.active, profile.cycles)})` : "";
  return (
    <div style={{ width: `${Math.max(100 * props.share, 1)}%` }}>
      <p class="note">{profile.name}, {number(profile.cycles)} cycles {name && `· ${name}`}</p>
      <Boxes profile={profile} graph={graph} zoomed={graph.root} boxes={layout.boxes} rows={layout.depth} rootOnTop={false}
        found={null} pointed={null} total={profile.cycles} label={`Call paths of ${profile.name}`}
        tell={setTold} press={() => choose(index)} back={() => {}} />
    </div>
  );
}

function signed(value: number): string {
  return value > 0 ? `+${number(value)}` : `−${number(-value)}`;
}

function change(now: number, before: number): string {
  if (now === before) return "none";
  return `${signed(now - before)} (${now > before ? "+" : "−"}${percent(Math.abs(now - before), before)})`;
}
