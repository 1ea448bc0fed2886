/**
 * The verbs of `mbongo connector`.
 *
 * Invariant: a verb that sends money requires --yes.
 */

import type { Command } from 'commander';
import type { AddVerb, AddVerbOf } from './verb.ts';

/** Adds `mbongo connector` with the verbs `list`, `hold` and `resume`. */
export function addConnectorCommands(program: Command, addVerb: AddVerb, addVerbOf: AddVerbOf): void {
  const connector = program.command('connector').description('connectors: hold what is sent out through one');
  const load = () => import('./connector.ts');
  addVerb(
    connector,
    'list',
    'list the connectors that send money out, and which are held',
    async () => (await load()).connectorList,
  );
  addVerbOf(
    connector,
    'hold',
    'let payouts and refunds through a connector wait until it is resumed',
    async () => (await load()).connectorHold,
    'name',
  ).requiredOption('--why <text>', 'the reason, for the journal and for whoever finds it held');
  addVerbOf(
    connector,
    'resume',
    'end a hold: what waits is sent now; needs --yes',
    async () => (await load()).connectorResume,
    'name',
  ).option('--yes', 'confirm; without it nothing is changed');
}
