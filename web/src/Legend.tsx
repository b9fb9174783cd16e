import type { Profile, Use } from "./data.ts";
import { fill } from "./paint.ts";
import { kindColour, kindName } from "./text.ts";

/** What the colours of uses mean, those that are wanted, in the order of every list. */
export function Legend(props: { uses: Use[] }) {
  return (
    <ul class="legend" aria-label="Colours">
      {props.uses.map((use) => (
        <li title={use.about}><i class="swatch" style={fill(use)} />{use.name}</li>
      ))}
    </ul>
  );
}

/** What the colours of kinds of frames mean, those that a profile has. */
export function KindLegend(props: { profile: Profile; kinds?: Set<string> }) {
  const found = props.kinds ?? new Set(props.profile.frames.map((frame) => frame.kind));
  return (
    <ul class="legend" aria-label="Colours">
      {[...found].map((kind) => <li><i class={`swatch ${kindColour(kind)}`} />{kindName(kind)}</li>)}
    </ul>
  );
}
