import { effect, signal } from "@preact/signals";

const dark = window.matchMedia("(prefers-color-scheme: dark)");

/** Whether the page is dark: as the system says until somebody says otherwise. */
export const isDark = signal(dark.matches);
let chosen = false;

effect(() => {
  document.documentElement.dataset["theme"] = isDark.value ? "dark" : "light";
});

dark.addEventListener("change", () => {
  if (!chosen) isDark.value = dark.matches;
});

export function ThemeButton() {
  const flip = (): void => {
    chosen = true;
    isDark.value = !isDark.value;
  };
  return (
    <button type="button" class="theme" onClick={flip} data-part="theme">
      {isDark.value ? "Light" : "Dark"}
    </button>
  );
}
