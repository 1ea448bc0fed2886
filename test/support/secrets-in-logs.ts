/**
 * Looks for secrets in what programs have printed.
 *
 * Invariant: a found secret is named by its kind, never quoted: a failing test must not print a secret either.
 */
import type { Merchant, Order } from './shop.ts';

/** Secrets of a run, by kind. */
export type Secrets = Readonly<Record<string, readonly string[]>>;

export function secretsOf(merchant: Merchant, orders: readonly Order[], more: Secrets = {}): Secrets {
  const phones = orders.flatMap(({ msisdn }) => (msisdn === undefined ? [] : [msisdn]));
  return {
    'merchant secret': [merchant.secret],
    'webhook secret': [merchant.webhook_secret.replace(/^whsec_/, '')],
    'session token': orders.flatMap(({ token }) => (token === '' ? [] : [token])),
    PIN: orders.flatMap(({ wallet }) => (wallet === undefined ? [] : [wallet.pin])),
    'phone number': phones,
    ...more,
  };
}

/** The kinds of secrets found in the text, each with the name of the event that its line logs. */
export function findSecrets(text: string, secrets: Secrets): string[] {
  const found = new Set<string>();
  for (const [kind, values] of Object.entries(secrets)) {
    for (const value of new Set(values)) {
      for (const form of formsOf(value)) {
        for (const at of text.matchAll(form)) found.add(`${kind} in ${eventAt(text, at.index)}`);
      }
    }
  }
  return [...found];
}

/** A secret as it is, in base64 and URL-encoded. A number must stand alone: other digits may contain it by chance. */
function formsOf(value: string): RegExp[] {
  const digits = value.replace(/^\+/, '');
  if (/^\d+$/.test(digits)) return [new RegExp(`(?<!\\d)${digits}(?!\\d)`, 'g')];
  const forms = [value, Buffer.from(value).toString('base64').replace(/=+$/, ''), encodeURIComponent(value)];
  return [...new Set(forms)].map((form) => new RegExp(form.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&'), 'g'));
}

function eventAt(text: string, index: number): string {
  const line = text.slice(text.lastIndexOf('\n', index) + 1).split('\n', 1)[0] ?? '';
  return /"event":"([^"]*)"/.exec(line)?.[1] ?? 'a line without an event';
}
