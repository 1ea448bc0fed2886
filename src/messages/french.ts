/**
 * What French typography asks of every sentence, wherever it is shown.
 *
 * Invariant: a sentence changes only in its blanks; no value that is filled in later does.
 */

/** French sets a blank before high punctuation and within quotation marks; a line must not break there. */
export function keepTogether(french: string): string {
  return french.replace(/ (?=[:;?!»])|(?<=«) /g, '\u00a0');
}
