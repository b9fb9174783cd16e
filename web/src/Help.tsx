import type { ComponentChildren } from "preact";

/** How to read a view, in place. */
export function Help(props: { children: ComponentChildren }) {
  return (
    <details class="help">
      <summary>How to read this</summary>
      <div>{props.children}</div>
    </details>
  );
}
