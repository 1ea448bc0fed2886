/**
 * The addresses that a merchant names: where webhooks go, and where its customers' browsers are sent back to.
 *
 * Invariant: an address that is found without fault may be dialled, or opened by a browser, under the rules of this gateway's mode;
 * each resolved address is checked again when it is dialled (contract §6).
 */

import type { Merchant } from '../domain/records.ts';
import type { RefusalDetail } from '../domain/refusal.ts';
import { isPlainAddress } from '../domain/return-address.ts';
import type { Deps } from './deps.ts';

type Urls = { readonly [field in 'notify_url' | 'success_redirect_url' | 'fail_redirect_url']?: string | undefined };

/** What is wrong with the addresses that were given (contract §6), in field order. */
export function urlFaults(deps: Pick<Deps, 'outbound'>, merchant: Merchant, urls: Urls): RefusalDetail[] {
  const hosts = merchant.settings.url_hosts ?? [];
  const details: RefusalDetail[] = [];
  for (const field of ['notify_url', 'success_redirect_url', 'fail_redirect_url'] as const) {
    const url = urls[field];
    if (url === undefined) continue;
    const opener = field === 'notify_url' ? 'gateway' : 'browser';
    const isGood = isPlainAddress(url) && deps.outbound.refuses(url, opener) === undefined;
    if (!isGood) details.push({ field, code: 'INVALID_URL' });
    else if (hosts.length > 0 && !hosts.includes(new URL(url).hostname)) {
      details.push({ field, code: 'URL_NOT_ALLOWED', words: { options: hosts.join(', ') } });
    }
  }
  return details;
}
