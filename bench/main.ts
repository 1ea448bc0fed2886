/**
 * `npm run bench`: measures every promise about payments, or, with `-- payouts`, `-- statement` or `-- overload`,
 * those of that name.
 *
 * `--help` names every option (`help.ts`). Invariant: however it ends, no process that it started is left running.
 */

import { messageOf } from '../src/commands/output.ts';
import { systemCodeOf } from '../src/platform/system-code.ts';
import { UsageError } from '../src/usecases/operator-error.ts';
import { benchAll } from './full.ts';
import { HELP } from './help.ts';
import { benchOverload } from './overload.ts';
import { benchPayouts } from './payouts.ts';
import { benchStatement } from './statement.ts';
import { stopAll } from './worlds.ts';

/** Each takes the arguments after its name, and prints its results. */
const BENCHES: Readonly<Record<string, (args: string[]) => Promise<void>>> = {
  all: benchAll,
  payments: (args) => benchAll(['--only', 'payments', ...args]),
  payouts: benchPayouts,
  statement: benchStatement,
  overload: benchOverload,
};

const USAGE = `npm run bench [-- ${Object.keys(BENCHES).join('|')}] [options]; --help names the options of each`;

/** Exit status of a process that was ended by the signal. */
const ENDED_BY = { SIGINT: 130, SIGTERM: 143 } as const;

let calledOff = false;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    calledOff = true;
    console.error(`\n${signal}: putting everything away`);
    void stopAll().then(() => process.exit(ENDED_BY[signal]));
  });
}

function isOfParseArgs(error: unknown): boolean {
  return systemCodeOf(error)?.startsWith('ERR_PARSE_ARGS') === true;
}

const [name = '', ...rest] = process.argv.slice(2);
const named = BENCHES[name];
try {
  if (process.argv.includes('--help')) console.log(HELP);
  else if (named !== undefined) await named(rest);
  else if (name === '' || name.startsWith('-')) await benchAll(process.argv.slice(2));
  else throw new UsageError(`there is no bench called ${name}: say one of ${Object.keys(BENCHES).join(', ')}`);
} catch (error) {
  // A failure caused by the interruption is not reported; the process then ends with the signal's status.
  if (!calledOff) {
    const isAskedWrongly = error instanceof UsageError || isOfParseArgs(error);
    if (process.argv.includes('--json')) console.error(JSON.stringify({ error: true, message: messageOf(error) }));
    else console.error(isAskedWrongly ? `${messageOf(error)}\n${USAGE}` : error);
    await stopAll();
    process.exit(isAskedWrongly ? 2 : 1);
  }
}
