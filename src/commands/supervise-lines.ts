/**
 * What a process prints, cut where its lines end.
 *
 * Invariant: what is passed on ends with a line; a line that its process never finished is passed on to nobody.
 */

/** Takes text as it arrives, and passes on the lines that are whole. */
export function wholeLines(pass: (lines: string) => void): (text: string) => void {
  let begun = '';
  return (text) => {
    const end = text.lastIndexOf('\n') + 1;
    if (end > 0) pass(begun + text.slice(0, end));
    begun = end > 0 ? text.slice(end) : begun + text;
  };
}
