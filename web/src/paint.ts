/** The colours of uses as properties of the style sheet, from what the profiles say, for both themes. */

import { effect } from "@preact/signals";
import type { Use } from "./data.ts";
import { profiles } from "./state.ts";
import { isDark } from "./Theme.tsx";

const numbers = new Map<string, number>();

/** The name of the property with a use's colour: the same in all profiles of a page. */
export function colourName(use: Use): string {
  let number = numbers.get(use.label);
  if (number === undefined) numbers.set(use.label, (number = numbers.size));
  return `u-${number}`;
}

/** What fills something with a use's colour. */
export function fill(use: Use): { background: string } {
  return { background: `var(--${colourName(use)})` };
}

/** The name of the property with the colour of text on a use's colour. */
export function inkName(use: Use): string {
  return use.whiteInk ? "on-dark" : "on-box";
}

// Before anything is drawn: a theme's colours are there when a canvas asks for them.
effect(() => {
  const { style } = document.documentElement;
  for (const profile of profiles.value) {
    for (const use of profile.uses) style.setProperty(`--${colourName(use)}`, isDark.value ? use.onDark : use.colour);
  }
});
