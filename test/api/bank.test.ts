/**
 * Bank transfers up to their proof: the account to transfer to, the promise, and how long it is valid.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { closeBankAccount } from '../../src/usecases/bank-close.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { setMerchant } from '../../src/usecases/merchant-set.ts';
import { submitByTransfer } from '../../src/usecases/payment-submit-bank.ts';
import { approveProof } from '../../src/usecases/proof-decide.ts';
import { readProof } from '../../src/usecases/proof-read.ts';
import { callerOf, plainly } from '../support/direct-calls.ts';
import { expectRefusal } from '../support/envelope.ts';
import { collect, collectWith, detailOf, hooksAbout, neighbourOf, payFromWallet, statusOf } from '../support/flows.ts';
import { onlyHook } from '../support/phone-payments.ts';
import { expectNothingWritten } from '../support/rows.ts';
import { addAccount, payByTransfer, pdfFile, promise, upload } from '../support/transfer-flows.ts';
import { type Answer, collectBody, mint, openWorld, type World } from '../support/world.ts';

const DAY = 24 * 60 * 60_000;

let world: World;
let merchant: MerchantCreated;

beforeAll(async () => {
  world = await openWorld();
  merchant = await world.merchant();
});
afterAll(() => world.close());

const banksFor = (token: string): Promise<Answer> => world.call('GET', '/payments/get-config-bank', { bearer: token });

describe('get-config-bank', () => {
  test('lists open accounts of the merchant in the session’s currency, by bank', async () => {
    const own = await world.merchant();
    const neighbour = await neighbourOf(world, own);
    const first = await addAccount(world, own, { iban: 'FR1420041010050500013M02606', swift: 'OKPICDKI' });
    const other = await addAccount(world, own, { bank: 'Crédit Nyota', accountNumber: '4711 42' });
    const second = await addAccount(world, own, { accountNumber: '99-1234' });
    await addAccount(world, own, { currency: 'cdf' });
    await addAccount(world, neighbour);
    const closed = await addAccount(world, own);
    await closeBankAccount(world.gateway.deps, closed.id);
    const { token } = await mint(world, own);
    const read = await banksFor(token);
    expect(read.status, read.text).toBe(200);
    const common = { account_name: 'Boutique Kivu', currency: 'usd', branch_city: 'Goma' };
    expect(read.json).toEqual({
      success: true,
      banks: [
        {
          id: 'banque-okapi',
          name: 'Banque Okapi',
          country: 'CD',
          accounts: [
            {
              ...common,
              id: first.id,
              account_number: first.account_number,
              iban: 'FR1420041010050500013M02606',
              swift: 'OKPICDKI',
            },
            { ...common, id: second.id, account_number: '99-1234', iban: null, swift: null },
          ],
        },
        {
          id: 'credit-nyota',
          name: 'Crédit Nyota',
          country: 'CD',
          accounts: [{ ...common, id: other.id, account_number: '4711 42', iban: null, swift: null }],
        },
      ],
    });
  });

  test('is empty without accounts, and if the merchant does not offer transfers', async () => {
    const bare = await world.merchant();
    expect((await banksFor((await mint(world, bare)).token)).json).toEqual({ success: true, banks: [] });
    await addAccount(world, bare);
    await setMerchant(world.gateway.deps, bare.merchant.id, { methods: ['wallet'] });
    expect((await banksFor((await mint(world, bare)).token)).json).toEqual({ success: true, banks: [] });
  });
});

describe('a collect by bank_transfer', () => {
  test('is refused without an account in the currency, and the refusal has no promise', async () => {
    const bare = await world.merchant();
    await addAccount(world, bare, { currency: 'cdf' });
    const { token } = await mint(world, bare);
    const body = collectBody(world, 'bank_transfer');
    await expectNothingWritten(world, async () => {
      const refused = await world.call('POST', '/payments/collect', { bearer: token, body });
      expectRefusal(refused, 400, '1103', 'METHOD_NOT_AVAILABLE');
      expect(refused.json.message).toContain('wallet');
      expect(refused.json.message.replace('The method bank_transfer', '')).not.toContain('bank_transfer');
    });
  });

  test('answers with the address for the proof, and the account if there is only one', async () => {
    const own = await world.merchant();
    const made = async () => {
      const { token } = await mint(world, own);
      const body = collectBody(world, 'bank_transfer');
      return (await world.call('POST', '/payments/collect', { bearer: token, body })).json;
    };
    const proof_upload_url = `${world.url}/api/v1/payments/bank-transfer/proof`;
    await addAccount(world, own, { currency: 'cdf' });
    const { id, account_number } = await addAccount(world, own);
    expect(await made()).toMatchObject({ status: 'pending', bank_account: { id, account_number }, proof_upload_url });
    await addAccount(world, own);
    expect(await made()).toMatchObject({ status: 'pending', bank_account: null, proof_upload_url });
  });
});

describe('a submit by bank_transfer', () => {
  test('promises the transfer: account, proof address, seven days, session consumed', async () => {
    const account = await addAccount(world, merchant);
    const paying = await collect(world, merchant, { method: 'bank_transfer', minted: { ttl_seconds: 86_400 } });
    const promised = await payByTransfer(world, paying, account.id);
    expect(promised.status, promised.text).toBe(200);
    expect(promised.json).toMatchObject({
      success: true,
      status: 'pendingBankProofUpload',
      transaction_id: paying.transaction_id,
      bank_account: { id: account.id, account_number: account.account_number, iban: null },
      proof_upload_url: `${world.url}/api/v1/payments/bank-transfer/proof`,
    });
    expectRefusal(await payByTransfer(world, paying, account.id), 401, '1001', 'SESSION_CONSUMED');
    expect((await detailOf(world, paying)).timeline.map(({ status }: { status: string }) => status)).toEqual([
      'pending',
      'pendingBankProofUpload',
    ]);
  });

  test('names the missing field, and how to list the accounts', async () => {
    const own = await world.merchant();
    const account = await addAccount(world, own);
    const neighbour = await neighbourOf(world, own);
    const theirs = await addAccount(world, neighbour);
    const other = await addAccount(world, own, { currency: 'cdf' });
    const closed = await addAccount(world, own);
    await closeBankAccount(world.gateway.deps, closed.id);
    const paying = await collect(world, own, { method: 'bank_transfer' });
    await expectNothingWritten(world, async () => {
      expectRefusal(await payByTransfer(world, paying, undefined), 400, '1109', 'REQUIRED');
      for (const id of [theirs.id, other.id, closed.id, 'bka_nothing', account.id.replace(/.{6}$/, '000000')]) {
        const refused = await payByTransfer(world, paying, id);
        expectRefusal(refused, 400, '1110', 'UNKNOWN_BANK_ACCOUNT');
        expect(refused.json.message).toContain('GET /payments/get-config-bank');
      }
    });
    expect((await payByTransfer(world, paying, account.id)).json.status).toBe('pendingBankProofUpload');
  });

  test('pays once, however many race, and ends the session’s other payments', async () => {
    const account = await addAccount(world, merchant);
    const wallet = await world.wallet();
    const paying = await collect(world, merchant, { minted: { ttl_seconds: 86_400 } });
    const sibling = await collectWith(world, paying.token);
    const answers = await Promise.all([
      payByTransfer(world, paying, account.id),
      payByTransfer(world, { ...paying, ...sibling }, account.id),
      payFromWallet(world, { ...paying, ...sibling }, wallet),
    ]);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const statuses = [await statusOf(world, paying), await statusOf(world, { ...paying, ...sibling })];
    expect(statuses).toContain('cancelled');
  });

  test('ends the session’s other payments, and their merchant is told', async () => {
    const account = await addAccount(world, merchant);
    const paying = await collect(world, merchant, { minted: { ttl_seconds: 86_400 } });
    const sibling = { ...paying, ...(await collectWith(world, paying.token)) };
    expect((await payByTransfer(world, paying, account.id)).status).toBe(200);
    expect((await detailOf(world, sibling)).timeline.at(-1)).toMatchObject({
      status: 'cancelled',
      reason: 'sibling_paid',
    });
    expect((await onlyHook(world, sibling)).body.status).toBe('cancelled');
  });

  test.each(['the same payment', 'another payment'] as const)(
    'that another submit overtakes is refused as consumed, after %s of its session has been submitted',
    async (which) => {
      const account = await addAccount(world, merchant);
      const paying = await collect(world, merchant, { method: 'bank_transfer', minted: { ttl_seconds: 86_400 } });
      const { deps } = world.gateway;
      const caller = await callerOf(world, merchant, paying);
      const payment = await deps.store.payment.get(merchant.merchant.shard, paying.transaction_id);
      if (payment === undefined) throw new Error('no payment');
      const ahead = which === 'the same payment' ? {} : await collectWith(world, paying.token);
      expect((await payByTransfer(world, { ...paying, ...ahead }, account.id)).status).toBe(200);
      await expectNothingWritten(world, async () => {
        const means = { method: 'bank_transfer', accountId: account.id } as const;
        const overtaken = submitByTransfer(deps, { caller, payment, answering: plainly }, means);
        await expect(overtaken).rejects.toMatchObject({ code: 1001 });
      });
    },
  );

  test('repeats its answer under an Idempotency-Key', async () => {
    const account = await addAccount(world, merchant);
    const paying = await collect(world, merchant, { method: 'bank_transfer' });
    const key = { 'idempotency-key': 'transfer-1' };
    const first = await payByTransfer(world, paying, account.id, key);
    const again = await payByTransfer(world, paying, account.id, key);
    expect(first.json.bank_account.id).toBe(account.id);
    expect([again.status, again.text]).toEqual([200, first.text]);
  });
});

test('a transfer without a proof expires after seven days, and the merchant is told why', async () => {
  const own = await world.merchant();
  const paying = await promise(world, own);
  await world.pass(7 * DAY - 1_000);
  const later = await mint(world, own, { ttl_seconds: 86_400 });
  const reading = { ...paying, token: later.token };
  expect(await statusOf(world, reading)).toBe('pendingBankProofUpload');
  await world.pass(1_000);
  expect(await statusOf(world, reading)).toBe('expired');
  const detail = await detailOf(world, reading);
  expect(detail.timeline.at(-1)).toMatchObject({ status: 'expired', reason: 'proof_overdue' });
  expect(detail.message).toBe('No proof of the bank transfer came in time.');
  await world.receiver.about(paying.transaction_id);
  expect(hooksAbout(world, paying.transaction_id).map(({ body }) => body.status)).toEqual(['expired']);
});

test('a payment keeps the account that it chose before the account was closed, and its proof is decided', async () => {
  const { deps } = world.gateway;
  const own = await world.merchant();
  const paying = await promise(world, own);
  const open = await collect(world, own);
  const { id } = paying.account;
  expect(await closeBankAccount(deps, id)).toMatchObject({ id, status: 'CLOSED' });
  // Closing it once more changes nothing.
  await expectNothingWritten(world, async () => {
    expect(await closeBankAccount(deps, id)).toMatchObject({ id, status: 'CLOSED', version: 2 });
  });
  expectRefusal(await payByTransfer(world, open, id), 400, '1103', 'METHOD_NOT_AVAILABLE');
  const proofId = (await upload(world, paying, pdfFile())).json.proof.id;
  expect((await readProof(deps, proofId)).payment.bank_account_id).toBe(id);
  await approveProof(deps, proofId, null);
  expect(await statusOf(world, paying)).toBe('approved');
});

test('no account is closed that there is not: its operator is told so', async () => {
  const { deps } = world.gateway;
  const { id } = await addAccount(world, merchant);
  await expect(closeBankAccount(deps, id.replace(/.{6}$/, '000000'))).rejects.toThrow('there is no bank account');
  await expect(closeBankAccount(deps, 'bka_nothing')).rejects.toThrow('the bank account id is not valid');
});
