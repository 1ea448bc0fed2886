/**
 * What the tests of refunds do again and again: an approved payment, a refund of it, and what the books say.
 *
 * Invariant: the gateway is called over HTTP; balances are read from the store, because no single call shows all of them.
 */

import { expect } from 'vitest';
import type { BookLine } from '../../sandbox/carriers/book.ts';
import { decideAttempt } from '../../src/usecases/attempt-decide.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import {
  bearerOf,
  collect,
  type Fields,
  hooksAbout,
  numberEnding,
  type Paying,
  payByPhone,
  payFromWallet,
  statusOf,
  untilStatus,
} from './flows.ts';
import { attemptOf } from './phone-payments.ts';
import type { Hook } from './receiver.ts';
import { rowsOf } from './rows.ts';
import { untilLater } from './waiting.ts';
import type { Answer, World } from './world.ts';

export interface Paid extends Paying {
  readonly msisdn: string;
}

/** Sessions of a day, because days pass in these tests. */
export const minted = { ttl_seconds: 86_400 };

/** A payment of 12.50 usd from a wallet. */
export async function paidByWallet(
  world: World,
  merchant: MerchantCreated,
  body: Fields = {},
): Promise<Paying & { readonly wallet: string }> {
  const paying = await collect(world, merchant, { body, minted });
  const wallet = await world.wallet();
  const answer = await payFromWallet(world, paying, wallet);
  expect(answer.json.status, answer.text).toBe('approved');
  return { ...paying, wallet: wallet.number };
}

/** A payment of 12.50 usd from a phone with that ending; where the carrier waits for a decision, the customer approves. */
export async function paidByPhone(
  world: World,
  merchant: MerchantCreated,
  ending: string,
  body: Fields = {},
): Promise<Paid> {
  const paying = await collect(world, merchant, { method: 'mobile_money', body, minted });
  const msisdn = numberEnding(ending);
  const submitted = await payByPhone(world, paying, msisdn);
  expect(submitted.status, submitted.text).toBe(200);
  await untilStatus(world, paying, 'approved');
  await world.receiver.about(paying.transaction_id);
  return { ...paying, msisdn };
}

/** A payment that its carrier never decides by itself: an operator has approved it. */
export async function paidByWord(world: World, merchant: MerchantCreated, ending: string): Promise<Paid> {
  const paying = await collect(world, merchant, { method: 'mobile_money', minted });
  const msisdn = numberEnding(ending);
  const submitted = await payByPhone(world, paying, msisdn);
  expect(submitted.json.status, submitted.text).toBe('pending_mobile_money_verification');
  const { id } = await attemptOf(world, paying);
  const verdict = { paid: true, providerReference: `SEEN-${id}`, by: 'amina', why: 'statement' };
  await decideAttempt(world.gateway.deps, id, verdict);
  expect(await statusOf(world, paying)).toBe('approved');
  return { ...paying, msisdn };
}

export function refund(
  world: World,
  merchant: MerchantCreated,
  body: Fields,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  return world.call('POST', '/internal/refunds', { bearer: bearerOf(merchant), body, headers });
}

/** An accepted refund. */
export async function refunded(
  world: World,
  merchant: MerchantCreated,
  { transaction_id }: Pick<Paying, 'transaction_id'>,
  more: Fields = {},
): Promise<Answer['json']> {
  const made = await refund(world, merchant, { transaction_id, ...more });
  expect(made.status, made.text).toBe(201);
  return made.json;
}

export async function readBack(world: World, merchant: MerchantCreated, refundId: string): Promise<Answer['json']> {
  const read = await world.call('GET', `/internal/refunds/${refundId}`, { bearer: bearerOf(merchant) });
  expect(read.status, read.text).toBe(200);
  return read.json;
}

/** Resolves once a try to send the refund has been refused; its status is pending before that, too. */
export async function untilTurnedAway(world: World, refundId: string): Promise<void> {
  const turnedAway = "select id from attempt where payment_id = $1 and status = 'not_sent'";
  await untilLater(world, async () => (await rowsOf(world, turnedAway, [refundId]))[0], 1_000);
}

/** Lets time pass until the refund has that status; returns it. */
export function untilRefund(
  world: World,
  merchant: MerchantCreated,
  refundId: string,
  status: string,
  stepMs = 1_000,
): Promise<Answer['json']> {
  return untilLater(
    world,
    async () => {
      const read = await readBack(world, merchant, refundId);
      return read.status === status ? read : undefined;
    },
    stepMs,
  );
}

/** A merchant's balances in usd, minor units, without those at zero. */
export async function balancesOf(
  world: World,
  { merchant }: MerchantCreated,
): Promise<{ readonly [what: string]: bigint }> {
  const accounts = await world.gateway.store.accounts.ofMerchant(merchant.shard, merchant.id);
  const own = accounts.filter(({ currency, balance }) => currency === 'usd' && balance !== 0n);
  return Object.fromEntries(own.map(({ id, balance }) => [id.split(':')[1], balance]));
}

/** What the carrier really sent to that phone. */
export function creditsOf(world: World, msisdn: string): BookLine[] {
  return world.sandbox.book.lines({ msisdn: msisdn.slice(1) }).filter(({ kind }) => kind === 'credit');
}

/** The webhooks of refunds about that payment, once `count` have arrived. */
export async function refundHooks(
  world: World,
  { transaction_id }: Pick<Paying, 'transaction_id'>,
  count: number,
): Promise<Hook[]> {
  const told = (): Hook[] =>
    hooksAbout(world, transaction_id).filter(({ headers }) => headers['webhook-event'] === 'payment.refunded');
  await untilLater(world, async () => (told().length >= count ? true : undefined), 10_000);
  await world.gateway.courier.idle();
  return told();
}

/**
 * Expects that the ledger adds up, that the reserved amounts are those of open refunds, and that the auditor, who also compares
 * the carriers' books with ours, has only the expected findings.
 */
export async function expectSound(world: World, expected: readonly string[] = []): Promise<void> {
  expect((await world.gateway.store.auditAll()).findings).toEqual([]);
  await world.pass(60_000);
  await world.pass(60_000);
  const found = world.log.lines.map((line) => JSON.parse(line)).filter(({ event }) => event === 'audit_finding');
  expect([...new Set(found.map(({ kind }) => kind))]).toEqual(expected);
}
