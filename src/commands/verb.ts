/**
 * How verbs are added to the command line's tree.
 *
 * Invariant: the code that carries a verb out is loaded only when the verb is chosen.
 */

import type { Command } from 'commander';
import type { Output } from './output.ts';
import type { Tools } from './tools.ts';

/** Adds a verb to its noun. */
export type AddVerb = <O>(
  parent: Command,
  name: string,
  description: string,
  load: () => Promise<(tools: Tools, options: O) => Promise<Output>>,
) => Command;

/** Adds a verb about one thing, which is its argument: `mbongo proof show prf_…`. */
export type AddVerbOf = <O>(
  parent: Command,
  name: string,
  description: string,
  load: () => Promise<(tools: Tools, id: string, options: O) => Promise<Output>>,
  noun?: string,
) => Command;

/** The options of a search for payments or payout lines; `phone` and `wallet` say what these have to do with an order. */
export function addSearchOptions(verb: Command, phone: string, wallet: string): void {
  verb
    .option('--merchant <id>', "only this merchant's")
    .option('--reference <reference>', "under this reference of the merchant's own (customer_reference), in full")
    .option('--phone <number>', `${phone}: +243810000042`)
    .option('--wallet <number>', wallet)
    .option('--upstream-reference <reference>', 'known under it to whoever moved the money: our reference or theirs')
    .option('--currency <code>', 'in this currency')
    .option('--from <time>', 'made at this time or later: 2026-03-01 or 2026-03-01T08:00:00Z')
    .option('--to <time>', 'made before this time')
    .option('--after <id>', 'those older than this one: the next page')
    .option('--limit <count>', 'how many to list at most', '50');
}

/** Called with the exit status of a verb that has ended. */
export type Ended = (status: number) => void;
