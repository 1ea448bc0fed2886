/**
 * What the worker repeats for webhooks: deliver what is due, because a try failed or because the process that committed it has
 * died.
 *
 * Invariant: it looks only at the database; a process that posts events from memory has leased them there.
 */

import { DELIVERY_ROUND_MS } from '../domain/webhook.ts';
import type { Deps } from '../usecases/deps.ts';
import { offerDue } from '../usecases/webhook-claim.ts';
import type { Courier } from '../usecases/webhook-deliver.ts';
import type { Work } from './payment-rounds.ts';

export function webhookRounds(deps: Pick<Deps, 'store' | 'clock'>, courier: Courier): Work[] {
  return [{ name: 'webhooks', every: DELIVERY_ROUND_MS, run: () => offerDue(deps, courier) }];
}
