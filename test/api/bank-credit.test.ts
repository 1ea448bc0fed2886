/**
 * A bank transfer that an approval names as the bank's statement does: it pays once.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { setFee } from '../../src/usecases/fee-set.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { approveProof, declineProof } from '../../src/usecases/proof-decide.ts';
import { statusOf } from '../support/flows.ts';
import { addAccount, jpegFile, pngFile, proofOf } from '../support/transfer-flows.ts';
import { openWorld, type World } from '../support/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld({ env: { RATE_LIMIT_SCALE: '0' } });
});
afterAll(async () => {
  expect(await world.gateway.store.audit()).toEqual([]);
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
