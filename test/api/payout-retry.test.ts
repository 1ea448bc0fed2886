/** Failed lines are paid again: each once, by a new batch with all the checks of a payout. */

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MAX_PAID_AGAIN } from '../../src/domain/payout-order.ts';
import type { Store } from '../../src/store/store.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { type MerchantSettingsChange, setMerchant } from '../../src/usecases/merchant-set.ts';
import { cancelPayout } from '../../src/usecases/payout-cancel.ts';
import { retryPayout } from '../../src/usecases/payout-retry.ts';
import { plainly } from '../support/direct-calls.ts';
import { expectRefusal } from '../support/envelope.ts';
import { bearerOf, neighbourOf, numberEnding } from '../support/flows.ts';
import { createPayout, lines, readBatch, settled } from '../support/payout-flows.ts';
import { availableOf, openPayer } from '../support/payout-lines.ts';
import { expectNothingWritten } from '../support/rows.ts';
import { openSecond } from '../support/second-gateway.ts';
import { untilLater } from '../support/waiting.ts';
import { type Answer, openWorld, type World } from '../support/world.ts';

let world: World;
let merchant: MerchantCreated;

beforeAll(async () => {
  world = await openWorld({ env: { RATE_LIMIT_SCALE: '0' } });
  merchant = await openPayer(world);
});
afterAll(() => world.close());

const paid = (n: number): { phone_number: string; amount: string } => ({
  phone_number: lines(n).at(-1)?.phone_number ?? '',
  amount: '1.00',
});

describe('failed lines', () => {
  const retry = (batchId: string, body: object = {}, headers = {}, of = merchant) =>
    world.call('POST', `/internal/payouts/${batchId}/retry`, { bearer: bearerOf(of), body, headers });

  async function failing(more: object = {}) {
    const { json } = await createPayout(world, merchant, {
      beneficiaries: [
        paid(50),
        { phone_number: numberEnding('02'), amount: '2.00' },
        { phone_number: numberEnding('03'), amount: '3.00' },
      ],
      ...more,
    });
    await settled(world, merchant, json.batch_id);
    const [one, two, three] = json.beneficiaries.map((line: { transaction_id: string }) => line.transaction_id);
    return { id: json.batch_id as string, one, two, three };
  }

  test('are paid again in a batch of their own, each once', async () => {
    const { id } = await failing();
    const again = await retry(id);
    expect(again.status, again.text).toBe(200);
    expect(again.json).toMatchObject({
      retry_of: id,
      customer_reference: 'salaries-11',
      total_amount: '5.00',
      pending_count: 2,
      sending_type: 'immediate',
    });
    expectRefusal(await retry(id), 409, '1205', 'NOT_RETRYABLE');
    const batch = await settled(world, merchant, again.json.batch_id);
    expect(batch).toMatchObject({ status: 'failed', retry_of: id });
    // Lines that fail again are paid again from there.
    expect((await retry(again.json.batch_id)).json).toMatchObject({ retry_of: again.json.batch_id, pending_count: 2 });
  });

  test('are paid again ten times at most', async () => {
    let { id } = await failing();
    for (let times = 0; times < MAX_PAID_AGAIN; times += 1) {
      const again = await retry(id);
      expect(again.status, again.text).toBe(200);
      id = again.json.batch_id;
      await settled(world, merchant, id);
    }
    const refused = await retry(id);
    expectRefusal(refused, 409, '1205', 'RETRIES_USED');
    expect(refused.json.details[0].field).toBe('batch_id');
  });

  test('may be selected; an id that is not a failed line of the batch is named', async () => {
    const { id, two, three } = await failing();
    const other = await failing();
    const wrong = await retry(id, { transaction_ids: [two, other.two, 'txn_x', three] });
    expectRefusal(wrong, 404, '1204', 'UNKNOWN_LINE');
    expect(wrong.json.details.map(({ field }: { field: string }) => field)).toEqual([
      'transaction_ids[1]',
      'transaction_ids[2]',
    ]);
    expectRefusal(await retry(id, { transaction_ids: [two, two] }), 400, '1110', 'DUPLICATE_BENEFICIARY');
    expectRefusal(await retry(id, { transaction_ids: [] }), 400, '1110');
    const chosen = await retry(id, { transaction_ids: [three] });
    expect(chosen.json).toMatchObject({ total_amount: '3.00', pending_count: 1 });
    expect((await retry(id)).json).toMatchObject({ total_amount: '2.00' });
  });

  test('are paid again only once, and no line that was paid is, though it is named', async () => {
    const { id, one, two, three } = await failing();
    const available = (): Promise<bigint> => availableOf(world, merchant);
    expect((await retry(id, { transaction_ids: [two] })).status).toBe(200);
    const before = await available();
    const wrong = await retry(id, { transaction_ids: [one, two, three] });
    expectRefusal(wrong, 409, '1205', 'NOT_RETRYABLE');
    expect(wrong.json.details.map(({ field }: { field: string }) => field)).toEqual([
      'transaction_ids[0]',
      'transaction_ids[1]',
    ]);
    for (const named of [one, two]) {
      expectRefusal(await retry(id, { transaction_ids: [named] }), 409, '1205', 'NOT_RETRYABLE');
    }
    expect(await available()).toBe(before);
  });

  test('are paid again without those that an operator called off', async () => {
    const { json } = await createPayout(world, merchant, {
      beneficiaries: [
        { phone_number: numberEnding('02'), amount: '2.00' },
        { phone_number: numberEnding('06'), amount: '3.00' },
      ],
    });
    const { batch_id: id, beneficiaries } = json;
    await untilLater(world, async () =>
      (await readBatch(world, merchant, id)).json.failed_count === 1 ? true : undefined,
    );
    await cancelPayout(world.gateway.deps, id, { by: 'amina', why: 'a mistake', notTaken: true });
    expect(await settled(world, merchant, id)).toMatchObject({ failed_count: 2 });
    const named = await retry(id, { transaction_ids: [beneficiaries[1].transaction_id] });
    expectRefusal(named, 409, '1205', 'NOT_RETRYABLE');
    expect((await retry(id)).json).toMatchObject({ total_amount: '2.00', pending_count: 1 });
  });

  test('are paid again once by twenty calls at once, and under a key', async () => {
    const { id } = await failing();
    const answers = await Promise.all(Array.from({ length: 20 }, () => retry(id)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const answer of answers) if (answer.status !== 200) expectRefusal(answer, 409, '1205');
    const keyed = await failing();
    const key = { 'idempotency-key': `retry-${keyed.id}` };
    const first = await retry(keyed.id, {}, key);
    expect((await retry(keyed.id, {}, key)).text).toBe(first.text);
  });

  test('of another batch do not get the first one’s answer under the same key', async () => {
    const [one, other] = [await failing(), await failing()];
    const key = { 'idempotency-key': 'retry-of-two' };
    expect((await retry(one.id, {}, key)).json.retry_of).toBe(one.id);
    expectRefusal(await retry(other.id, {}, key), 409, '1203', 'IDEMPOTENCY_BODY');
    expect((await retry(other.id)).json.retry_of).toBe(other.id);
  });

  test('need the balance and, above the threshold, an operator', async () => {
    const payer = await openPayer(world, 10_00n);
    const { json } = await createPayout(world, payer, {
      beneficiaries: [{ phone_number: numberEnding('02'), amount: '9.00' }],
    });
    await settled(world, payer, json.batch_id);
    await createPayout(world, payer, { beneficiaries: lines(1, '5.00') });
    expectRefusal(await retry(json.batch_id, {}, {}, payer), 402, '1201', 'PAYOUT_FUNDS');
    const rich = await openPayer(world);
    const sent = await createPayout(world, rich, {
      beneficiaries: [{ phone_number: numberEnding('03'), amount: '9.00' }],
    });
    await settled(world, rich, sent.json.batch_id);
    await setMerchant(world.gateway.deps, rich.merchant.id, { payout_approval_from: new Map([['usd', 900n]]) });
    expect((await retry(sent.json.batch_id, {}, {}, rich)).json).toMatchObject({
      approval: 'waiting',
      status: 'pending',
    });
  });

  test('that another call pays again meanwhile are refused as such, not for the balance that it took', async () => {
    const payer = await openPayer(world, 10_00n);
    const { json } = await createPayout(world, payer, {
      beneficiaries: [{ phone_number: numberEnding('02'), amount: '9.00' }],
    });
    await settled(world, payer, json.batch_id);
    const { deps } = world.gateway;
    let isOvertaken = false;
    const get: Store['account']['get'] = async (...given) => {
      const isFirst = !isOvertaken;
      isOvertaken = true;
      if (isFirst) expect((await retry(json.batch_id, {}, {}, payer)).status).toBe(200);
      return deps.store.account.get(...given);
    };
    const behind = { ...deps, store: { ...deps.store, account: { ...deps.store.account, get } } };
    const caller = { kind: 'merchant', merchant: payer.merchant, credentialId: payer.key_id } as const;
    const refused = retryPayout(behind, caller, json.batch_id, undefined, plainly);
    await expect(refused).rejects.toMatchObject({ code: 1205 });
  });

  test('that return their money while it is counted are not refused for it', async () => {
    const payer = await openPayer(world, 10_00n);
    const { json } = await createPayout(world, payer, {
      beneficiaries: [{ phone_number: numberEnding('02'), amount: '9.00' }],
    });
    const { deps } = world.gateway;
    const get: Store['account']['get'] = async (...given) => {
      const found = await deps.store.account.get(...given);
      await settled(world, payer, json.batch_id);
      return found;
    };
    const behind = { ...deps, store: { ...deps.store, account: { ...deps.store.account, get } } };
    const caller = { kind: 'merchant', merchant: payer.merchant, credentialId: payer.key_id } as const;
    const early = retryPayout(behind, caller, json.batch_id, undefined, plainly);
    await expect(early).rejects.toMatchObject({ code: 1205 });
    expect((await retry(json.batch_id, {}, {}, payer)).status).toBe(200);
  });

  test('are checked against the present settings, as a new payout is', async () => {
    const payer = await openPayer(world);
    const { json } = await createPayout(world, payer, {
      beneficiaries: [{ phone_number: numberEnding('02'), amount: '9.00' }],
    });
    await settled(world, payer, json.batch_id);
    const allow = (changes: MerchantSettingsChange) => setMerchant(world.gateway.deps, payer.merchant.id, changes);
    await allow({ currencies: ['cdf'] });
    await expectNothingWritten(world, async () => {
      const wrong = await retry(json.batch_id, {}, {}, payer);
      expectRefusal(wrong, 400, '1102', 'CURRENCY_NOT_ALLOWED');
      expect(wrong.json.details[0].field).toBe('currency');
    });
    await allow({ currencies: null, url_hosts: ['shop.example.com'] });
    await expectNothingWritten(world, async () => {
      expectRefusal(await retry(json.batch_id, {}, {}, payer), 400, '1110', 'URL_NOT_ALLOWED');
    });
    await allow({ url_hosts: null });
    expect((await retry(json.batch_id, {}, {}, payer)).status).toBe(200);
  });

  test('use the present carriers: a line that none of them can pay is named, and nothing is made', async () => {
    const { id, two } = await failing();
    const folder = await mkdtemp(join(tmpdir(), 'mbongo-routes-'));
    const CARRIER_ROUTES = join(folder, 'routes.json');
    const route = {
      connector: 'mtn-momo',
      carrier: 'MTN',
      country: 'UG',
      prefixes: ['25677'],
      currencies: ['ugx', 'usd'],
    };
    await writeFile(CARRIER_ROUTES, JSON.stringify([route]));
    const moved = await openSecond(world, world.gateway.deps.clock, undefined, { env: { CARRIER_ROUTES } });
    const there = async (body: object) => {
      const response = await fetch(`${moved.url}/api/v1/internal/payouts/${id}/retry`, {
        method: 'POST',
        headers: { authorization: `Bearer ${bearerOf(merchant)}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      const { error_code, details } = (await response.json()) as Answer['json'];
      return [error_code, details.map(({ field, code }: Readonly<Record<string, string>>) => `${field} ${code}`)];
    };
    try {
      await expectNothingWritten(world, async () => {
        expect(await there({})).toEqual(['1103', ['beneficiaries[1] NO_CARRIER', 'beneficiaries[2] NO_CARRIER']]);
        expect(await there({ transaction_ids: [two] })).toEqual(['1103', ['transaction_ids[0] NO_CARRIER']]);
      });
    } finally {
      await moved.close();
      await rm(folder, { recursive: true });
    }
    expect((await retry(id)).json).toMatchObject({ pending_count: 2 });
  });

  test('do not exist in a batch that is fully paid, or another merchant’s', async () => {
    const { json } = await createPayout(world, merchant, { beneficiaries: [paid(60)] });
    await settled(world, merchant, json.batch_id);
    const none = await retry(json.batch_id);
    expectRefusal(none, 409, '1205', 'NOT_RETRYABLE');
    expect(none.json.message).toContain('completed');
    const stranger = await neighbourOf(world, merchant);
    expectRefusal(await retry(json.batch_id, {}, {}, stranger), 404, '1204');
  });
});
