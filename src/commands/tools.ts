/**
 * Runs one command against the database, also while the gateway runs.
 *
 * Invariant: everything opened for the command is closed before it ends, so that the process ends by itself.
 */

import { createLog } from '../platform/log.ts';
import type { Deps, OperatorDeps } from '../usecases/deps.ts';
import type { Command } from '../usecases/journal.ts';
import { stillUsingDatabaseUrl } from './database-url.ts';
import { type Io, type Output, printError, printOutput } from './output.ts';
import { openWorld } from './world.ts';

/** What a command is handed. */
export interface Tools {
  readonly deps: OperatorDeps & Pick<Deps, 'log' | 'alarmed' | 'payoutText'>;
  readonly input?: Io['input'];
}

/** A command as it is given. */
export interface Given extends Command {
  /** Whether it may write something that depends on this machine's clock, which then has to be right. */
  readonly changes: boolean;
}

/**
 * Carries a command out, under the name that the journal records, and prints its result. Returns the exit status: 0, 1 when it
 * was not carried out or its finding is negative, or 2 for wrong usage.
 */
export async function runWithTools(
  io: Io,
  json: boolean,
  { changes, ...name }: Given,
  command: (tools: Tools) => Promise<Output>,
): Promise<number> {
  return report(io, json, async () => {
    const [{ journaled }, { requireAttribution }, { requireRightClock }] = await Promise.all([
      import('../usecases/journal.ts'),
      import('../usecases/operator-input.ts'),
      import('../usecases/clock-guard.ts'),
    ]);
    // Before anything else, so that a preview does not pass over what would be refused with --yes.
    requireAttribution(name);
    // What only reads or stops has nothing to do in a database that it would have to make: the folder is the wrong one.
    const world = await openWorld(io, 'errors', changes);
    try {
      const { payoutText } = await import('../messages/payout-text.ts');
      const { clock, random, secrets, log, config, store } = world;
      if (changes) await requireRightClock({ store, clock, mode: config.mode });
      const alarmed = (): void => undefined;
      // Whatever LOG_LEVEL is: it is what is left of the journal if the database is lost. A terminal keeps nothing.
      const level = io.isStderrTty === true ? 'silent' : 'info';
      const copies = createLog({ level, destination: { write: io.writeError } });
      const written = journaled({ store, clock, random, copies }, name);
      const deps = { store: written, clock, random, secrets, log, alarmed, payoutText, mode: config.mode };
      return await stillUsingDatabaseUrl(config.databaseUrl, () => command({ deps, input: io.input }));
    } finally {
      await world.close();
    }
  });
}

/** Prints the output of `run`, or its error. Returns the exit status. */
export async function report(io: Io, json: boolean, run: () => Promise<Output>): Promise<number> {
  try {
    const output = await run();
    printOutput(io, output, json);
    return output.failed === true ? 1 : 0;
  } catch (error) {
    return printError(io, error, json);
  }
}
