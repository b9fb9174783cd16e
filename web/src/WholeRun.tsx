import { selection } from "./state.ts";

/** Says of figures that do not follow the selection what they are of. */
export function WholeRun(props: { what: string }) {
  return selection.value && <p class="note" data-part="whole-run">{props.what}: of the whole run, not of the selected cycles.</p>;
}
