import { useEffect } from "preact/hooks";

/** Keep the height of an element, while it is there, in a property of the style sheet: what it covers is left free. */
export function useHeight(element: { current: HTMLElement | null }, name: string, there: boolean): void {
  useEffect(() => {
    const { style } = document.documentElement;
    const watched = element.current;
    if (!watched) return;
    const observer = new ResizeObserver(() => style.setProperty(name, `${watched.offsetHeight}px`));
    observer.observe(watched);
    return () => {
      observer.disconnect();
      style.removeProperty(name);
    };
  }, [there]);
}
