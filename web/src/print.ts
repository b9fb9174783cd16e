/** The page on paper: light, with all lanes, and with what is folded away on a screen. */

import { effect, signal } from "@preact/signals";

const medium = window.matchMedia("print");

export const printing = signal(medium.matches);

medium.addEventListener("change", () => (printing.value = medium.matches));
window.addEventListener("beforeprint", () => (printing.value = true));
window.addEventListener("afterprint", () => (printing.value = medium.matches));

const unfolded = new Set<HTMLDetailsElement>();

effect(() => {
  if (printing.value) {
    for (const one of document.querySelectorAll<HTMLDetailsElement>("details:not([open])")) {
      one.open = true;
      unfolded.add(one);
    }
  } else {
    for (const one of unfolded) one.open = false;
    unfolded.clear();
  }
});
