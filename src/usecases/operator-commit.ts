/**
 * How operators' commands take effect once.
 *
 * Invariant: a command whose commit was acknowledged has taken effect once; one whose outcome was lost is looked up, and
 * never carried out a second time.
 */

import type { Change, Claim, Insert } from '../domain/change.ts';
import { CommitUnknown, isTransient } from '../store/errors.ts';
import { type Deps, newId } from './deps.ts';
import { OperatorError } from './operator-error.ts';
import { pause } from './patience.ts';
import { commitDecision } from './perform.ts';

/** Pauses before each further try once an outcome was lost: some ten seconds in all, which covers a database's restart. */
const PAUSES_MS = [200, 500, 1_000, 2_500, 5_500];
const CHECK_BALANCE = 'check the balance first';

/**
 * Runs work that ends in a commit. Once a commit's outcome was lost, later failures do not resolve the doubt: the work is
 * retried, and finally reported as unknown. `attempt` must be safe to repeat, and recognise what an earlier try committed. A
 * failure before any doubt is thrown as it is: nothing was written.
 *
 * @throws OperatorError that says that it may have happened, and `advice`: what to check before doing it again.
 */
async function untilKnown<A>(
  deps: Pick<Deps, 'clock'>,
  attempt: () => Promise<A>,
  advice: string,
  happened: 'may' | 'has' = 'may',
): Promise<A> {
  let inDoubt = happened === 'has';
  for (const milliseconds of [...PAUSES_MS, undefined]) {
    try {
      return await attempt();
    } catch (error) {
      inDoubt ||= error instanceof CommitUnknown;
      if (!inDoubt || error instanceof OperatorError) throw error;
      if (happened === 'has' && !isTransient(error)) throw error;
    }
    if (milliseconds !== undefined) await pause(deps.clock, milliseconds);
  }
  const certainty = happened === 'has' ? 'the command has taken effect, once' : 'the command may have taken effect';
  throw new OperatorError(`the database went away before it answered, but ${certainty}: ${advice}`);
}

/**
 * The loop of `commitDecision` for operators, who wait until a lost outcome is known; `advice` as for `commitOnce`. What another
 * command may undo before that takes `decideOnce`, unless `decide` recognises its own work whatever has come since.
 */
export function commitDecisionKnown<R, A>(
  deps: Pick<Deps, 'store' | 'clock'>,
  read: () => Promise<R>,
  decide: (rows: R) => { readonly change?: Change; readonly answer: A },
  advice: string,
): Promise<A> {
  return untilKnown(deps, () => commitDecision(deps.store, read, decide), advice);
}

/**
 * Reads what a command reports, or does what may be done again, once it has taken effect: from then on no failure of the database
 * may look as if it had not.
 */
export function readAfter<A>(deps: Pick<Deps, 'clock'>, read: () => Promise<A>, advice = CHECK_BALANCE): Promise<A> {
  return untilKnown(deps, read, advice, 'has');
}

/** Claims a command's name for a day: of two changes with the same name, the second one is lost. */
export function commandClaim(
  shard: number,
  commandId: string,
  now: number,
): Extract<Claim, { readonly table: 'idempotency' }> {
  const id = `command:${commandId}`;
  return {
    table: 'idempotency',
    row: { shard, id, version: 1, request_hash: '', status: 200, body: '', created_at: now },
  };
}

/**
 * Commits a change once, even if it has no guard of its own. `commandId` names the command and is remembered for a day. Its
 * events are due at once: a command posts no webhooks, so any worker may.
 *
 * Returns `lost` when something that the change relied on has moved, or a balance would go below its floor.
 *
 * @throws OperatorError that ends in `advice` when the database stays away after an outcome was lost; the store's own error
 *   when nothing was written.
 */
export async function commitOnce(
  deps: Pick<Deps, 'store' | 'clock'>,
  shard: number,
  commandId: string,
  change: Change,
  advice = CHECK_BALANCE,
): Promise<'won' | 'lost'> {
  const now = deps.clock.now();
  const claim = commandClaim(shard, commandId, now);
  const whole = dueAtOnce({ ...change, claims: [claim, ...(change.claims ?? [])] }, now);
  const attempt = async (): Promise<'won' | 'lost'> => {
    if ((await deps.store.commit(whole)) === 'won') return 'won';
    // If our claim exists, the change lost only to an earlier try of our own.
    return (await deps.store.idempotency.get(shard, claim.row.id)) === undefined ? 'lost' : 'won';
  };
  return untilKnown(deps, attempt, advice);
}

/** 50 rounds: losing this often means that the rule is wrong, since each round decides on what the winner wrote. */
const MAX_ROUNDS = 50;

/**
 * Commits an operator's decision once, on fresh rows (`advice` is for `commitOnce`). If it loses to another decision, it is decided
 * again, and finds what the other one did. `decide` reads its rows anew each time. It throws an OperatorError when there is
 * nothing left to decide, and returns no change when all is as wanted.
 */
export async function decideOnce<A>(
  deps: Pick<Deps, 'store' | 'clock' | 'random'>,
  shard: number,
  advice: string,
  decide: () => Promise<{ readonly change?: Change; readonly answer: A }>,
): Promise<A> {
  const commandId = newId(deps, 'cmd', shard);
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const { change, answer } = await decide();
    if (change === undefined || (await commitOnce(deps, shard, commandId, change, advice)) === 'won') return answer;
  }
  throw new Error('a decision lost against its neighbours too often');
}

/** A command's change, with its events due at once: events are otherwise made leased to a process that posts them from memory. */
export function dueAtOnce(change: Change, next_at: number): Change {
  const inserts = change.inserts?.map((insert): Insert => {
    return insert.table === 'webhook_event' ? { ...insert, row: { ...insert.row, next_at } } : insert;
  });
  return inserts === undefined ? change : { ...change, inserts };
}
