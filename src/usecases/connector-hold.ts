/**
 * Holds a connector, and ends the hold: payouts and refunds that go through it wait, because its upstream cannot be trusted for
 * now (it pays wrongly, or its answers do not match its statement).
 *
 * Invariant: what a hold keeps back waits in the database as it is, and is sent once when the hold has ended. Payments that come
 * in, inquiries, callbacks and calls that are under way go on. A command takes effect once: it undoes none that came after it.
 */

import { holdId } from '../domain/hold.ts';
import type { OperatorDeps } from './deps.ts';
import { type Hold, holdIn, type KeptHold } from './holds.ts';
import { decideOnce } from './operator-commit.ts';
import { OperatorError } from './operator-error.ts';
import { type Attribution, requireAttribution } from './operator-input.ts';
import { readSetting, SETTINGS_SHARD, settingChange } from './setting.ts';

const ADVICE = 'see `mbongo connector list`';

/**
 * Holds a connector. Every process knows of it within a second.
 *
 * @throws OperatorError when it is held already, UsageError when the attribution is not one clean line each
 */
export async function holdConnector(deps: OperatorDeps, connector: string, attribution: Attribution): Promise<Hold> {
  const hold: Hold = { since: deps.clock.now(), ...requireAttribution(attribution) };
  await change(deps, connector, hold, (found) => {
    if (found !== undefined) throw new OperatorError(`${found.by} holds ${connector} already: ${ADVICE}`);
  });
  return hold;
}

/** Ends a hold. @throws OperatorError when the connector is not held */
export async function resumeConnector(deps: OperatorDeps, connector: string): Promise<void> {
  await change(deps, connector, null, requireHold);
}

/** The hold that there is. @throws OperatorError when there is none */
export function requireHold(found: Hold | undefined): Hold {
  if (found === undefined) throw new OperatorError(`it is not held: ${ADVICE}`);
  return found;
}

/** Writes a connector's hold once; `check` throws an OperatorError if that may not be done. */
function change(
  deps: OperatorDeps,
  connector: string,
  hold: Hold | null,
  check: (found: Hold | undefined) => unknown,
): Promise<void> {
  const id = holdId(connector);
  const kept: KeptHold = { command: Buffer.from(deps.random.bytes(16)).toString('hex'), hold };
  return decideOnce(deps, SETTINGS_SHARD, ADVICE, async () => {
    const setting = await readSetting(deps, id);
    check(holdIn(setting)?.hold ?? undefined);
    return { change: settingChange(id, setting, JSON.stringify(kept)), answer: undefined };
  });
}
