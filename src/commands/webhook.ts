/**
 * `mbongo webhook`: lists and shows events, sends them again, and rotates the signing secret.
 *
 * Invariant: the events of a span are not sent again without --yes.
 */

import { statesOf } from '../domain/machine.ts';
import { DELIVERY } from '../domain/webhook.ts';
import type { WebhookEvent } from '../domain/webhook-records.ts';
import { seeEvent } from '../usecases/events-read.ts';
import { OperatorError, UsageError } from '../usecases/operator-error.ts';
import { requireId, requireMerchant, requireSpan } from '../usecases/operator-input.ts';
import { countRange, type EventRange, replayEvent, replayRange } from '../usecases/webhook-replay.ts';
import { rotateWebhookSecret } from '../usecases/webhook-secret-rotate.ts';
import { readDuration, readLimit, readStatus, readTime } from './options.ts';
import { counted, endOfPage, fieldLines, type Output, table, timeOf } from './output.ts';
import type { Tools } from './tools.ts';

/**
 * The options of `mbongo webhook list`. `status`: waiting, delivered, dead, gone or no_target; undefined: any. `from` is included,
 * `to` is not.
 */
export interface WebhookListOptions {
  readonly merchant?: string;
  readonly status?: string;
  readonly from?: string;
  readonly to?: string;
  readonly after?: string;
  readonly limit: string;
}

/**
 * A page of webhook events, the oldest first, as `{events, next}`, without their bodies. `next_at`: when the event is posted next;
 * null: it is not.
 *
 * @throws OperatorError when an option is wrong, or there is no such merchant.
 */
export async function webhookList({ deps }: Tools, options: WebhookListOptions): Promise<Output> {
  const { merchant, status, after } = options;
  if (after !== undefined) requireId('evt', after, 'event');
  const from = options.from === undefined ? undefined : readTime(options.from);
  const until = options.to === undefined ? undefined : readTime(options.to);
  if (from !== undefined && until !== undefined) requireSpan({ from, to: until });
  const limit = readLimit(options.limit);
  const events = await deps.store.event.list({
    merchantId: merchant === undefined ? undefined : (await requireMerchant(deps, merchant)).id,
    status: status === undefined ? undefined : readStatus(status, statesOf(DELIVERY), 'an event'),
    from,
    until,
    after,
    limit,
  });
  const end = endOfPage(events, limit);
  const rows = events.map((event) => [
    event.id,
    event.type,
    event.transaction_id,
    event.merchant_id,
    hostOf(event.url),
    event.status,
    String(event.attempts),
    nextTry(event) ?? '',
    event.status === 'no_target' ? 'it has no notify_url' : (event.last_error ?? ''),
  ]);
  return {
    document: { events: events.map(documentOf), next: end.next },
    lines: [
      ...table(
        ['event', 'type', 'transaction', 'merchant', 'receiver', 'status', 'tries', 'next try', 'last error'],
        rows,
      ),
      ...end.lines,
    ],
  };
}

/** One event with every try. Its body, which may hold a whole phone number, is not shown. */
export async function webhookShow({ deps }: Tools, eventId: string): Promise<Output> {
  const { event, tries } = await seeEvent(deps, eventId);
  const document = documentOf(event);
  const made = tries.map(({ id, number, at, status_code, duration_ms, error }) => ({
    try_id: id,
    number,
    at: timeOf(at),
    status_code,
    duration_ms,
    error,
  }));
  return {
    document: { ...document, tries: made },
    lines: [
      ...fieldLines(document),
      '',
      ...table(
        ['try', 'at', 'answer', 'ms', 'error'],
        made.map((one) => [
          String(one.number),
          one.at,
          String(one.status_code ?? ''),
          String(one.duration_ms),
          one.error ?? '',
        ]),
      ),
    ],
  };
}

/** When it is posted next, if it is. */
function nextTry({ status, next_at }: WebhookEvent): string | null {
  return status === 'waiting' ? timeOf(next_at) : null;
}

function hostOf(url: string | null): string {
  return url === null ? '' : new URL(url).host;
}

/** The options of `mbongo webhook replay`: either `event`, or `from` for a span, which `to`, `status` and `merchant` narrow. */
export interface WebhookReplayOptions {
  readonly event?: string;
  readonly merchant?: string;
  readonly status?: string;
  readonly from?: string;
  readonly to?: string;
  readonly yes?: true;
}

/** Sends one event again, or with --yes all of a span. */
export async function webhookReplay(tools: Tools, options: WebhookReplayOptions): Promise<Output> {
  const { event, merchant, status, from, to } = options;
  const merchantId = merchant === undefined ? undefined : (await requireMerchant(tools.deps, merchant)).id;
  if ((event === undefined) === (from === undefined)) {
    throw new UsageError('name the events: --event for one, or --from (and --to if needed) for all in a span');
  }
  if (event === undefined) return replaySpan(tools, merchantId, options);
  if (to !== undefined || status !== undefined) {
    throw new UsageError('--to and --status select among many events: leave them out with --event');
  }
  const replayed = await replayEvent(tools.deps, merchantId, event);
  return {
    document: { replayed: 1, event: documentOf(replayed) },
    lines: [`${replayed.id} is due again: it is sent as soon as a worker runs.`],
  };
}

async function replaySpan(
  { deps }: Tools,
  merchantId: string | undefined,
  { status, from, to, yes }: WebhookReplayOptions,
): Promise<Output> {
  const span = { from: readTime(from ?? ''), to: to === undefined ? deps.clock.now() : readTime(to) };
  requireSpan(span, ', or before now if --to is left out');
  const range: EventRange = {
    ...span,
    merchantId,
    status: status === undefined ? undefined : readStatus(status, statesOf(DELIVERY), 'an event'),
  };
  if (yes !== true) {
    const found = await whatReplays({ deps }, range);
    if (found !== undefined) throw new OperatorError(`${found}: add --yes to do it`);
  }
  const replayed = yes === true ? await replayRange(deps, range) : 0;
  const what = replayed === 1 ? '1 event is due again: it is' : `${replayed} events are due again: they are`;
  return {
    document: { replayed },
    lines: [replayed === 0 ? 'There is nothing to send again.' : `${what} sent as soon as a worker runs.`],
  };
}

/** 5 merchants at most are named before a replay. */
const MAX_NAMED = 5;

/** What replaying the range would send, and whose; undefined: nothing. */
async function whatReplays({ deps }: Tools, range: EventRange): Promise<string | undefined> {
  const shares = await countRange(deps, range);
  if (shares.length === 0) return undefined;
  const named = await Promise.all(
    shares.slice(0, MAX_NAMED).map(async ({ merchantId, events }) => {
      const { name } = await requireMerchant(deps, merchantId);
      return `${events} of ${merchantId} (${name})`;
    }),
  );
  const others = shares.length - named.length;
  const whose = [...named, ...(others === 0 ? [] : [`the rest of ${counted(others, 'other merchant')}`])].join(', ');
  const sum = (of: 'events' | 'delivered'): number => shares.reduce((total, share) => total + share[of], 0);
  const span = `made from ${timeOf(range.from)} until ${timeOf(range.to)}`;
  const before = sum('delivered') === 0 ? 'none' : sum('delivered');
  return `this sends ${counted(sum('events'), 'webhook')} again, ${span}, ${before} of them delivered before: ${whose}`;
}

/**
 * Replaces a merchant's signing secret: `{merchant_id, webhook_secret, old_retires_at}`. The secret is shown only this once.
 * `grace`: how long webhooks are signed with the old one too (contract §6); `old_retires_at` null: they no longer are.
 *
 * @throws OperatorError when there is no such merchant, or the grace is not usable.
 */
export async function webhookSecretRotate(
  { deps }: Tools,
  options: { readonly merchant: string; readonly grace: string },
): Promise<Output> {
  const made = await rotateWebhookSecret(deps, options.merchant, readDuration(options.grace, ', or 0'));
  const old_retires_at = timeOf(made.old_retires_at);
  return {
    document: { ...made, old_retires_at },
    lines: [
      `webhook secret  ${made.webhook_secret}`,
      old_retires_at === null
        ? 'Webhooks are no longer signed with the old one.'
        : `Webhooks are signed with the old one too until ${old_retires_at}.`,
      'The secret is shown only this once: keep it on your backend.',
      // The sandbox's inbox is another program that has the old secret, and verifies only as long as that one signs too.
      ...(deps.mode === 'sandbox'
        ? [
            'The sandbox still verifies with the secret it knows: paste the new one on the page of its inbox. /inbox/demo and the demo shop learn it at the next start.',
          ]
        : []),
    ],
  };
}

function documentOf(event: WebhookEvent) {
  const { id, merchant_id, transaction_id, sequence, type, url, status, attempts, last_error } = event;
  return {
    event_id: id,
    merchant_id,
    transaction_id,
    sequence,
    type,
    url,
    status,
    attempts,
    last_error,
    next_at: nextTry(event),
    created_at: timeOf(event.created_at),
    delivered_at: timeOf(event.delivered_at),
  };
}
