/**
 * How a bench reports: in lines for people or, with `--json`, as one JSON document for programs.
 *
 * Invariant: with `--json`, standard output carries that document and nothing else; the lines go to standard error.
 */

export interface Teller {
  /** Prints a line for people. */
  say(line: string): void;
  /** Prints the figures, if `--json` asks for them. */
  hand(figures: object): void;
}

export function tellerOf({ json }: { readonly json: boolean }): Teller {
  if (!json) return { say: (line) => console.log(line), hand: () => undefined };
  return { say: (line) => console.error(line), hand: (figures) => console.log(JSON.stringify(figures)) };
}
