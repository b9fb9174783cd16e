/** A row of a table that is pressed anywhere does what its button does; its links and other buttons remain theirs. */
export function pressed(act: () => void): (event: MouseEvent) => void {
  return (event) => {
    if (event.target instanceof Element && event.target.closest("a, button, input, select")) return;
    if (getSelection()?.type === "Range") return; // a hand that copies text
    act();
  };
}

/** Enter or the space bar on something that is pressed like a button. */
export function pressedByKey(act: () => void): (event: KeyboardEvent) => void {
  return (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    act();
    event.preventDefault();
  };
}
