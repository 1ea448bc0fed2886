/**
 * State machines as tables: state × fact → state.
 *
 * A fact is in the past tense: something that happened. Three outcomes: *moved*; *repeated* (we know it already);
 * *conflict* (it contradicts what we told the merchant: a person must look). Every cell that is not written is a
 * conflict, so that nothing happens by omission.
 */

/** A state machine of the states `S`, which the facts `F` move. */
export interface Machine<S extends string, F extends string> {
  readonly name: string;
  readonly initial: S;
  readonly final: readonly S[];
  readonly facts: readonly F[];
  /** A cell naming its own state means *repeated*. */
  readonly table: { readonly [state in S]: { readonly [fact in F]?: S } };
}

/** What a fact does in a state: see the head of this file. */
export type Step<S extends string> =
  | { readonly kind: 'moved'; readonly to: S }
  | { readonly kind: 'repeated' }
  | { readonly kind: 'conflict' };

/** A fact that contradicts the recorded state; if an upstream stated the fact, that is never the caller's fault. */
export class StateConflict extends Error {
  /** `what` names the machine; `of` is its record. */
  constructor(what: string, of: { readonly id: string; readonly status: string }, fact: string) {
    super(`${what} ${of.id} is ${of.status}: ${fact} contradicts it`);
    this.name = 'StateConflict';
  }
}

/** Looks one cell up. */
export function step<S extends string, F extends string>(machine: Machine<S, F>, state: S, fact: F): Step<S> {
  const to = machine.table[state][fact];
  if (to === undefined) return { kind: 'conflict' };
  return to === state ? { kind: 'repeated' } : { kind: 'moved', to };
}

/** The states of a machine, in the order of its table. */
export function statesOf<S extends string, F extends string>(machine: Machine<S, F>): S[] {
  return Object.keys(machine.table) as S[];
}

/** A machine's whole grid as a Markdown table: one row per state, one column per fact; `·` is a conflict, `=` a repetition. */
export function gridOf<S extends string, F extends string>(machine: Machine<S, F>): string {
  const head = `| ${[machine.name, ...machine.facts].join(' | ')} |`;
  const rule = `|${' --- |'.repeat(machine.facts.length + 1)}`;
  const rows = statesOf(machine).map((state) => {
    const cells = machine.facts.map((fact) => {
      const next = step(machine, state, fact);
      if (next.kind === 'moved') return next.to;
      return next.kind === 'repeated' ? '=' : '·';
    });
    const name = machine.final.includes(state) ? `**${state}**` : state;
    return `| ${[name, ...cells].join(' | ')} |`;
  });
  return [head, rule, ...rows].join('\n');
}
