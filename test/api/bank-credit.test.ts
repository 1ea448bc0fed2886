/**
 * A bank transfer that an approval names as the bank's statement does: it pays once.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bankCreditKey } from '../../src/domain/bank-credit.ts';
import { releaseForOperator } from '../../src/usecases/delivery-release.ts';
import { setFee } from '../../src/usecases/fee-set.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { approveProof, declineProof, nameTransfer } from '../../src/usecases/proof-decide.ts';
import { statusOf } from '../support/flows.ts';
import { rowsOf } from '../support/rows.ts';
import { addAccount, jpegFile, pngFile, promise, proofOf, upload } from '../support/transfer-flows.ts';
import { openWorld, type World } from '../support/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld({ env: { RATE_LIMIT_SCALE: '0' } });
});
afterAll(async () => {
  expect((await world.gateway.store.auditAll()).findings).toEqual([]);
  await world.close();
});

const operator = () => world.gateway.deps;
const proven = (own: MerchantCreated, file = pngFile(), body = {}) => proofOf(world, own, file, body);

describe('a transfer that the approval names as the bank does', () => {
  const REFERENCE = 'FT 26324-Kx9';

  test('is kept as the reference of the payment, and pays once, also at another merchant with the same account', async () => {
    const [own, other] = [await world.merchant(), await world.merchant()];
    const shared = { accountNumber: '00011 05101 777' };
    await addAccount(world, own, shared);
    await addAccount(world, other, { ...shared, bank: 'Banque Okapi SA' });
    const [first, again, elsewhere] = [await proven(own), await proven(own, jpegFile()), await proven(other)];
    const { payment, proof } = await approveProof(operator(), first.proofId, null, ` ${REFERENCE} `);
    expect([payment.status, payment.provider_reference, proof.note]).toEqual(['approved', REFERENCE, null]);
    for (const { proofId, transaction_id, token } of [again, elsewhere]) {
      for (const reference of ['ft26324-kx9', 'FT26324/KX9', 'FT26324KX9', 'ＦＴ 26324–Kx9\ufe0f']) {
        const approving = approveProof(operator(), proofId, null, reference);
        await expect(approving).rejects.toThrow(`paid for ${first.transaction_id} at 2026-`);
      }
      expect(await statusOf(world, { transaction_id, token })).toBe('processing');
    }
    const { token: bearer, payment_id } = first;
    const { json } = await world.call('GET', `/payments/mobile-money/status/${payment_id}`, { bearer });
    expect(json.data).toMatchObject({ status: 'completed', provider_reference: '' });
    await approveProof(operator(), again.proofId, null, `${REFERENCE}/2`);
    await declineProof(operator(), elsewhere.proofId, 'counted already');
  });

  test('does not pay at another account, nor twice when both are approved at the same time', async () => {
    const own = await world.merchant();
    const proofs = [await proven(own), await proven(own), await proven(own)];
    const made = await Promise.allSettled(
      proofs.map(({ proofId }) => approveProof(operator(), proofId, null, REFERENCE)),
    );
    expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const one of made) if (one.status === 'rejected') expect(String(one.reason)).toContain('paid for txn_');
  });

  test('pays once in each currency of an account: a bank may number its books by currency', async () => {
    const own = await world.merchant();
    for (const currency of ['usd', 'cdf'] as const)
      await addAccount(world, own, { accountNumber: '00011 05101 888', currency });
    const francs = await promise(world, own, { currency: 'cdf' });
    const { json } = await upload(world, francs, jpegFile());
    for (const proofId of [(await proven(own)).proofId, json.proof.id]) {
      const { payment } = await approveProof(operator(), proofId, null, REFERENCE);
      expect([payment.status, payment.provider_reference]).toEqual(['approved', REFERENCE]);
    }
  });

  test('is found also if the whole payment went into the fee', async () => {
    const own = await world.merchant();
    const rule = { merchantId: own.merchant.id, method: undefined, currency: 'usd', rate: '0' } as const;
    await setFee(operator(), { ...rule, fixed: 100_00n, min: undefined, max: undefined });
    const body = { fee_covered_by: 'merchant' };
    const [first, second] = [await proven(own, pngFile(), body), await proven(own, pngFile(), body)];
    await approveProof(operator(), first.proofId, null, 'R1');
    await expect(approveProof(operator(), second.proofId, null, 'R1')).rejects.toThrow(first.transaction_id);
  });

  test('is refused if it is not one clean line', async () => {
    const { proofId } = await proven(await world.merchant());
    for (const reference of ['', ' ', 'a\nb', 'x'.repeat(141)]) {
      await expect(approveProof(operator(), proofId, null, reference)).rejects.toThrow('one line of 1 to 140');
    }
    await expect(approveProof(operator(), proofId, null, '---')).rejects.toThrow('letters or digits');
  });
});

describe('a transfer that is named after its approval', () => {
  const approved = async (own: MerchantCreated, file = pngFile()) => {
    const one = await proven(own, file);
    await approveProof(operator(), one.proofId, null);
    return one;
  };

  test('pays no other payment from then on; nothing else changes', async () => {
    const own = await world.merchant();
    const [first, second] = [await approved(own), await proven(own, jpegFile())];
    const seen = () => world.call('GET', `/payments/transaction/${first.transaction_id}`, { bearer: first.token });
    const before = await seen();
    const { payment } = await nameTransfer(operator(), first.proofId, ' FT 77/1 ');
    expect([payment.status, payment.provider_reference]).toEqual(['approved', 'FT 77/1']);
    await expect(approveProof(operator(), second.proofId, null, 'ft77-1')).rejects.toThrow(first.transaction_id);
    expect(before.status).toBe(200);
    expect((await seen()).json).toEqual(before.json);
    expect((await nameTransfer(operator(), first.proofId, 'ft771')).payment).toEqual(payment);
    await expect(nameTransfer(operator(), first.proofId, 'FT 78')).rejects.toThrow('is named FT 77/1 already');
  });

  test('is refused a name under which another one has paid, also when both are named at the same time', async () => {
    const own = await world.merchant();
    const both = [await approved(own), await approved(own, jpegFile())];
    const named = await Promise.allSettled(both.map(({ proofId }) => nameTransfer(operator(), proofId, 'R7')));
    expect(named.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    for (const one of named) if (one.status === 'rejected') expect(String(one.reason)).toContain('paid for txn_');
    const [last] = both.filter((_, index) => named[index]?.status === 'rejected');
    await nameTransfer(operator(), last?.proofId ?? '', 'R7/2');
  });

  test('is named whatever the clock by which it was approved', async () => {
    const { proofId } = await proven(await world.merchant());
    world.clock.setBack(120_000);
    await approveProof(operator(), proofId, null);
    await world.clock.advance(120_000);
    expect((await nameTransfer(operator(), proofId, 'R9')).payment.provider_reference).toBe('R9');
  });

  test('is kept with the ledger line that brought it in, also if its money was released by a clock that is behind', async () => {
    const own = await world.merchant();
    const { proofId, transaction_id, account } = await proven(own, pngFile(), {
      delivery_behaviour: 'delayed_delivery',
    });
    await approveProof(operator(), proofId, null);
    world.clock.setBack(30_000);
    await releaseForOperator(operator(), transaction_id);
    await world.clock.advance(30_000);
    await nameTransfer(operator(), proofId, 'R12');
    const { shard, id } = bankCreditKey(account, 'R12');
    const line = (await world.gateway.store.transferReference.get(shard, id))?.transfer_id;
    expect(await rowsOf(world, 'select cause from ledger_transfer where id = $1', [line])).toEqual([
      { cause: 'payment' },
    ]);
  });

  test('that has paid another one: the way out is not to decline what has been approved', async () => {
    const own = await world.merchant();
    const [first, second] = [await proven(own), await approved(own, jpegFile())];
    await approveProof(operator(), first.proofId, null, 'R10');
    const naming = nameTransfer(operator(), second.proofId, 'R10');
    await expect(naming).rejects.toThrow(/credited twice: .* for txn_\w+, and take its amount back .* like R10\/2$/);
    await expect(naming).rejects.not.toThrow('decline');
  });

  test('is named once by two operators who name it differently at the same time', async () => {
    const { proofId } = await approved(await world.merchant());
    const named = await Promise.allSettled(['A1', 'B2'].map((name) => nameTransfer(operator(), proofId, name)));
    expect(named.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    for (const one of named)
      if (one.status === 'rejected') expect(String(one.reason)).toMatch(/is named (A1|B2) already/);
  });

  test('has been approved: what waits or was declined is not named', async () => {
    const own = await world.merchant();
    const { proofId } = await proven(own);
    await expect(nameTransfer(operator(), proofId, 'R8')).rejects.toThrow('is waiting: `mbongo proof approve');
    await declineProof(operator(), proofId, 'nothing has come');
    await expect(nameTransfer(operator(), proofId, 'R8')).rejects.toThrow(
      'has been declined: only a transfer that has paid is named',
    );
    await approveProof(operator(), (await proven(own, jpegFile())).proofId, null, 'R8');
  });
});
