/**
 * `npm run bench [-- payments|payouts|statement …]`: measures one thing, payments when none is named.
 *
 * Invariant: whatever fails, no process that was started is left behind.
 */

import { benchPayments } from './payments.ts';
import { benchPayouts } from './payouts.ts';
import { benchStatement } from './statement.ts';
import { stopAll } from './worlds.ts';

/** Each is given the arguments behind its name, and prints what it found. */
const BENCHES: Readonly<Record<string, (args: string[]) => Promise<void>>> = {
  payments: benchPayments,
  payouts: benchPayouts,
  statement: benchStatement,
};

const [name = '', ...rest] = process.argv.slice(2);
const named = BENCHES[name];
try {
  if (named !== undefined) await named(rest);
  else if (name === '' || name.startsWith('-')) await benchPayments(process.argv.slice(2));
  else throw new Error(`there is no bench called ${name}: say one of ${Object.keys(BENCHES).join(', ')}`);
} catch (error) {
  stopAll();
  console.error(error);
  process.exit(1);
}
