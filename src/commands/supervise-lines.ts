/**
 * Cuts a process's output at the ends of its lines.
 *
 * Invariant: only whole lines are passed on; a line that its process never finished is dropped.
 */

/** Returns a function that takes text as it arrives, and passes on whole lines. */
export function wholeLines(pass: (lines: string) => void): (text: string) => void {
  let begun = '';
  return (text) => {
    const end = text.lastIndexOf('\n') + 1;
    if (end > 0) pass(begun + text.slice(0, end));
    begun = end > 0 ? text.slice(end) : begun + text;
  };
}
