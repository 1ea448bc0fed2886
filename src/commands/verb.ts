/**
 * How verbs are added to the command line's tree.
 *
 * Invariant: what a verb does is loaded when it is chosen, and not before.
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

/** Adds a verb about one thing, which is named right behind it: `mbongo proof show prf_…`. */
export type AddVerbOf = <O>(
  parent: Command,
  name: string,
  description: string,
  load: () => Promise<(tools: Tools, id: string, options: O) => Promise<Output>>,
  noun?: string,
) => Command;
