/**
 * Signs webhooks according to Standard Webhooks (contract §6).
 *
 * Invariant: every try is signed anew, with every secret that is valid at that moment, so that a merchant can change its
 * secret without missing an event; and with no secret that was sealed for another merchant. A rotation takes effect within a
 * second, in every process.
 */

import { evictOldest } from '../domain/evict.ts';
import { signsAt } from '../domain/webhook.ts';
import type { WebhookEvent, WebhookSecret } from '../domain/webhook-records.ts';
import type { Secrets } from '../platform/platform.ts';
import type { Deps } from './deps.ts';
import { freshReads } from './fresh-read.ts';

type SignerDeps = Pick<Deps, 'store' | 'clock' | 'secrets'>;

/** Makes the headers of one try; undefined when the merchant has no valid secret that can be opened. */
export type Signer = (event: WebhookEvent) => Promise<{ readonly [name: string]: string } | undefined>;

const PREFIX = 'whsec_';
const SECRETS_FRESH_MS = 1_000;
/** 4096 merchants, and as many opened keys, are cached; others are read again. */
const MAX_REMEMBERED = 4_096;

/** A secret's key, and the row that it was opened for. */
interface Opened extends Pick<WebhookSecret, 'merchant_id' | 'sealed'> {
  readonly key: Uint8Array;
}

/** Makes a signer that remembers merchants' secrets for a second, and their opened keys. */
export function createSigner(deps: SignerDeps): Signer {
  const reads = freshReads<readonly WebhookSecret[]>({
    now: () => deps.clock.now(),
    lifeMs: SECRETS_FRESH_MS,
    most: MAX_REMEMBERED,
  });
  const opened = new Map<string, Opened>();

  const secretsOf = ({ shard, merchant_id }: WebhookEvent): Promise<readonly WebhookSecret[]> =>
    reads(merchant_id, () => deps.store.webhookSecret.ofMerchant(shard, merchant_id));

  const keyOf = (secret: WebhookSecret): Uint8Array | undefined => {
    const { id, merchant_id, sealed } = secret;
    const known = opened.get(id);
    if (known?.sealed === sealed && known.merchant_id === merchant_id) return known.key;
    const key = openWebhookKey(deps, secret);
    if (key !== undefined) remember(opened, id, { merchant_id, sealed, key });
    return key;
  };

  return async (event) => {
    const secrets = await secretsOf(event);
    // Looked at only now, because a slow database may take seconds: a secret's time may have ended meanwhile.
    const now = deps.clock.now();
    // The wall clock, because the receiver compares the time with its own clock.
    const seconds = String(Math.floor(deps.clock.wall() / 1_000));
    const signatures: string[] = [];
    for (const secret of secrets) {
      const key = signsAt(secret, now) ? keyOf(secret) : undefined;
      if (key !== undefined) signatures.push(signatureOf(deps.secrets, key, event.id, seconds, event.body));
    }
    if (signatures.length === 0) return undefined;
    return {
      'content-type': 'application/json',
      'webhook-id': event.id,
      'webhook-timestamp': seconds,
      'webhook-signature': signatures.join(' '),
      'webhook-event': event.type,
      'webhook-sequence': String(event.sequence),
    };
  };
}

/** One signature, as it appears in the header. `seconds`: the time of signing in seconds since 1970, as text. */
export function signatureOf(
  secrets: Pick<Secrets, 'hmac'>,
  key: Uint8Array,
  id: string,
  seconds: string,
  body: string,
): string {
  return `v1,${secrets.hmac(key, `${id}.${seconds}.${body}`)}`;
}

/** 24 bytes at least for a key (Standard Webhooks): with an empty or short one, anybody could sign. */
const MIN_KEY_BYTES = 24;

/** The key in the text of a webhook secret; undefined if the text is not a valid secret. */
export function keyOfWebhookSecret(text: string): Uint8Array | undefined {
  const key = Buffer.from(text.startsWith(PREFIX) ? text.slice(PREFIX.length) : '', 'base64');
  return key.length < MIN_KEY_BYTES ? undefined : key;
}

/**
 * A webhook secret sealed for its row: it can be opened with no other row's id, and for no other merchant. The merchant is named
 * behind the secret, not in the context, so that earlier builds open it, too: Node.js decodes nothing behind the padding of base64,
 * and 32 bytes have one.
 */
export function sealWebhookSecret(
  deps: Pick<Deps, 'secrets'>,
  { id, merchant_id }: Pick<WebhookSecret, 'id' | 'merchant_id'>,
  secret: string,
): string {
  return deps.secrets.seal('webhook_secret', `${secret} ${merchant_id}`, id);
}

/**
 * The text of a webhook secret; undefined if the master key that sealed it is gone, or it was sealed for another row or merchant.
 * One that an earlier build sealed names no merchant, and is opened for any.
 */
export function openWebhookSecret(
  deps: Pick<Deps, 'secrets'>,
  { id, merchant_id, sealed }: WebhookSecret,
): string | undefined {
  const [text, owner = merchant_id] = deps.secrets.open('webhook_secret', sealed, id)?.split(' ') ?? [];
  return owner === merchant_id ? text : undefined;
}

function openWebhookKey(deps: Pick<Deps, 'secrets'>, secret: WebhookSecret): Uint8Array | undefined {
  const text = openWebhookSecret(deps, secret);
  return text === undefined ? undefined : keyOfWebhookSecret(text);
}

/** Caches a value as the newest. */
function remember<K, V>(map: Map<K, V>, key: K, value: V): void {
  map.delete(key);
  map.set(key, value);
  evictOldest(map, MAX_REMEMBERED);
}
