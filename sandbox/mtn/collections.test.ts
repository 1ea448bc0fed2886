// Memory is bounded, and yet a debit stays findable and a reference stays taken.
import { expect, test } from 'vitest';
import { createBook } from '../carriers/book.ts';
import { defaultSettings } from '../carriers/settings.ts';
import { createPhones } from '../phone/phones.ts';
import { manualWorld } from '../testing/manual-world.ts';
import { createCollections, type RequestToPay } from './collections.ts';

test('a forgotten request is still a duplicate, and its debit is still found', () => {
  const world = manualWorld();
  const book = createBook();
  const parts = {
    world,
    settings: defaultSettings(),
    book,
    phones: createPhones(world),
    sendCallback: () => undefined,
  };
  const collections = createCollections({ ...parts, remembered: 2 });
  const request = (reference: string, msisdn: string): RequestToPay => ({
    reference,
    amount: '7',
    currency: 'XAF',
    externalId: `external-${reference}`,
    msisdn,
    payerMessage: '',
    payeeNote: 'Shop',
    callbackUrl: null,
  });
  for (let n = 0; n < 20; n += 1) {
    expect(collections.take(request(`paid-${n}`, '237670000001'))).toBe('taken');
    expect(collections.take(request(`failed-${n}`, '237670000002'))).toBe('taken');
    world.advance(1_000);
  }
  for (let n = 0; n < 20; n += 1) {
    expect(collections.find(`paid-${n}`)).toMatchObject({
      status: 'SUCCESSFUL',
      amount: '7',
      currency: 'XAF',
      externalId: `external-paid-${n}`,
    });
    expect(collections.take(request(`paid-${n}`, '237670000001'))).toBe('duplicate');
    expect(collections.take(request(`failed-${n}`, '237670000001'))).toBe('duplicate');
  }
  expect(collections.find('failed-0')).toBeUndefined();
  world.advance(10_000);
  expect(book.size()).toBe(20);
  expect(book.lines().every(({ times }) => times === 1)).toBe(true);
});
