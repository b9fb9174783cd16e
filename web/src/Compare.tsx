import { classCycles } from "./derive.ts";
import { choose, current, profiles } from "./state.ts";
import { ClassBar } from "./Summary.tsx";
import { className, number, percent } from "./text.ts";

/** All profiles on one scale. */
export function Compare() {
  const all = profiles.value;
  const longest = Math.max(...all.map((profile) => profile.cycles * profile.classes.per));
  const names = [...new Set(all.flatMap((profile) => profile.classes.names))];
  const cycles = all.map((profile) => {
    const found = classCycles(profile, { from: 0, to: profile.cycles });
    return names.map((name) => found[profile.classes.names.indexOf(name)] ?? 0);
  });
  const used = names.filter((_, index) => cycles.some((of) => of[index]));
  return (
    <section id="compare" aria-labelledby="compare-title">
      <h2 id="compare-title">Side by side</h2>
      <div class="wide">
        <table data-part="compare">
          <caption>Cycles by class (thread-cycles by state, where there are threads); bars have one scale; changes are against the first profile</caption>
          <thead>
            <tr>
              <th scope="col">profile</th><th scope="col" class="n">cycles</th><th scope="col" class="n">change</th>
              {used.map((name) => <th scope="col" class="n">{className(name)}</th>)}
              <th scope="col" class="barcell">cycles</th>
            </tr>
          </thead>
          <tbody>
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
                <td class="barcell"><ClassBar names={names} cycles={cycles[index]!} total={profile.cycles * profile.classes.per} scale={longest} /></td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function signed(value: number): string {
  return value > 0 ? `+${number(value)}` : `−${number(-value)}`;
}

function change(now: number, before: number): string {
  if (now === before) return "none";
  return `${signed(now - before)} (${now > before ? "+" : "−"}${percent(Math.abs(now - before), before)})`;
}
