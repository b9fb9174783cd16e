import type { ComponentChildren } from "preact";

/** What a view keeps folded away: how to read it, or all of its numbers. */
export function Help(props: { title?: string; children: ComponentChildren }) {
  return (
    <details class="help">
      <summary>{props.title ?? "How to read this"}</summary>
      <div>{props.children}</div>
    </details>
  );
}
