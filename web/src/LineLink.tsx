import { goToLine } from "./reveal.ts";

/** A line of the program; pressed, the source shows it, and all views highlight what comes from it. */
export function LineLink(props: { level?: string; file: string; line: number }) {
  const { level = "", file, line } = props;
  return (
    <a class="place" href={`#line-${line}`} onClick={(event) => {
      event.preventDefault();
      goToLine(level, file, line);
    }}>{file}:{line}</a>
  );
}
