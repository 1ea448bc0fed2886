/**
 * `mbongo connector`: holds what is sent out through a connector, and ends the hold.
 */

import { SENDERS } from '../connectors/registry.ts';
import { holdConnector, requireHold, resumeConnector } from '../usecases/connector-hold.ts';
import { type Hold, readHold, readHolds } from '../usecases/holds.ts';
import { OperatorError, UsageError } from '../usecases/operator-error.ts';
import { type Output, table, timeOf } from './output.ts';
import { type AttributionOptions, attributionOf } from './this-user.ts';
import type { Tools } from './tools.ts';

/**
 * The connectors that send money out as `{connectors: [{connector, held, since, by, why}]}`; the last three are null for one that
 * is not held.
 */
export async function connectorList({ deps }: Tools): Promise<Output> {
  const standings = await readHolds(deps, SENDERS);
  return {
    document: { connectors: standings.map(({ sender, hold }) => documentOf(sender.connector, hold)) },
    lines: table(
      ['connector', 'held since', 'by', 'why'],
      standings.map(({ sender, hold }) => {
        return [sender.connector, timeOf(hold?.since ?? null) ?? 'not held', hold?.by ?? '', hold?.why ?? ''];
      }),
    ),
  };
}

/**
 * Lets payouts and refunds through a connector wait from now on, and returns the connector as `connectorList` does.
 *
 * @throws UsageError when it sends no money out; OperatorError when it is held already.
 */
export async function connectorHold({ deps }: Tools, name: string, options: AttributionOptions): Promise<Output> {
  requireSender(name);
  const hold = await holdConnector(deps, name, attributionOf(options));
  return {
    document: documentOf(name, hold),
    lines: [
      `${name} is held since ${timeOf(hold.since)}`,
      'Every process knows of it within a second; calls that are under way are finished.',
    ],
  };
}

/**
 * Ends a hold, so that what waits is sent, and returns the connector as `connectorList` does.
 *
 * @throws UsageError when it sends no money out; OperatorError when it is not held, and, without --yes, with who holds it and
 *   why.
 */
export async function connectorResume(
  { deps }: Tools,
  name: string,
  options: { readonly yes?: true },
): Promise<Output> {
  requireSender(name);
  if (options.yes !== true) {
    const { since, by, why } = requireHold(await readHold(deps, name));
    throw new OperatorError(`${by} has held ${name} since ${timeOf(since)} (${why}): add --yes to send what waits`);
  }
  await resumeConnector(deps, name);
  return {
    document: documentOf(name, undefined),
    lines: [`${name} is no longer held: what waits is sent within half a minute`],
  };
}

function requireSender(name: string): void {
  const names = SENDERS.map(({ connector }) => connector);
  if (names.includes(name)) return;
  throw new UsageError(`no connector called ${JSON.stringify(name)} sends money out: there is ${names.join(', ')}`);
}

function documentOf(connector: string, hold: Hold | undefined) {
  return {
    connector,
    held: hold !== undefined,
    since: timeOf(hold?.since ?? null),
    by: hold?.by ?? null,
    why: hold?.why ?? null,
  };
}
