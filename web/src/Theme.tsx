import { computed, effect, signal } from "@preact/signals";
import { printing } from "./print.ts";

const dark = window.matchMedia("(prefers-color-scheme: dark)");
const wanted = signal(dark.matches);

/** Whether the page is dark: as the system says until somebody says otherwise; never on paper. */
export const isDark = computed(() => wanted.value && !printing.value);
let chosen = false;

effect(() => {
  document.documentElement.dataset["theme"] = isDark.value ? "dark" : "light";
});

dark.addEventListener("change", () => {
  if (!chosen) wanted.value = dark.matches;
});

export function ThemeButton() {
  const flip = (): void => {
    chosen = true;
    wanted.value = !wanted.value;
  };
  return (
    <button type="button" class="theme" onClick={flip} data-part="theme">
      {isDark.value ? "Light" : "Dark"}
    </button>
  );
}
