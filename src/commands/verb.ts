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
