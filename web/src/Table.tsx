import type { ComponentChildren } from "preact";

/** A column's heading; "n" is the class of numbers. */
export type Head = [title: ComponentChildren, kind?: "n" | "barcell"];

/** A table with its caption and headings; the rows are its children. It scrolls where it is too wide. */
export function Table(props: {
  part: string;
  caption: ComponentChildren;
  heads: Head[];
  kind?: string;
  /** What names the table to those who cannot see it, where it scrolls on its own. */
  label?: string;
  children: ComponentChildren;
}) {
  const { label } = props;
  return (
    <div class={label ? "wide code" : "wide"} {...(label ? { tabIndex: 0, role: "region", "aria-label": label } : {})}>
      <table class={props.kind} data-part={props.part}>
        <caption class={label && "hidden"}>{props.caption}</caption>
        <thead>
          <tr>{props.heads.map(([title, kind]) => <th scope="col" class={kind}>{title}</th>)}</tr>
        </thead>
        <tbody>{props.children}</tbody>
      </table>
    </div>
  );
}
