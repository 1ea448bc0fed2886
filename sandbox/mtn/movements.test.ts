// Memory is bounded, and yet movements of money stay findable and references stay taken.
import { expect, test } from 'vitest';
import { createBook } from '../carriers/book.ts';
import { defaultSettings } from '../carriers/settings.ts';
import { createPhones } from '../phone/phones.ts';
import { manualWorld } from '../testing/manual-world.ts';
import { createCollections } from './collections.ts';
import { createDisbursements } from './disbursements.ts';
import type { MoneyRequest, Movements, MovementsParts } from './movements.ts';

function parts(remembered: number) {
  const world = manualWorld();
  const book = createBook();
  const made: MovementsParts = {
    world,
    settings: defaultSettings(),
    book,
    phones: createPhones(world),
    sendCallback: () => undefined,
    remembered,
  };
  return { ...made, world };
}

function request(reference: string, msisdn: string): MoneyRequest {
  return {
    reference,
    amount: '7',
    currency: 'XAF',
    externalId: `external-${reference}`,
    msisdn,
    payerMessage: '',
    payeeNote: 'Shop',
    callbackUrl: null,
  };
}

/** What a status request would be answered with. */
function found(movements: Movements, reference: string): unknown {
  return JSON.parse(movements.find(reference) ?? 'null');
}

test.each([
  ['debit', createCollections],
  ['credit', createDisbursements],
])('a forgotten request is still a duplicate, and its %s is still found', (kind, create) => {
  const { world, book, ...rest } = parts(2);
  const movements = create({ world, book, ...rest });
  for (let n = 0; n < 20; n += 1) {
    expect(movements.take(request(`paid-${n}`, '237670000001'))).toBe('taken');
    expect(movements.take(request(`failed-${n}`, '237670000002'))).toBe('taken');
    world.advance(1_000);
  }
  for (let n = 0; n < 20; n += 1) {
    expect(found(movements, `paid-${n}`)).toMatchObject({
      status: 'SUCCESSFUL',
      amount: '7',
      currency: 'XAF',
      externalId: `external-paid-${n}`,
    });
    expect(movements.take(request(`paid-${n}`, '237670000001'))).toBe('duplicate');
    expect(movements.take(request(`failed-${n}`, '237670000001'))).toBe('duplicate');
  }
  expect(movements.find('failed-0')).toBeUndefined();
  world.advance(10_000);
  expect(book.size()).toBe(20);
  expect(book.lines().every((line) => line.times === 1 && line.kind === kind)).toBe(true);
});

test('payouts that are never decided do not pile up, and pay nothing', () => {
  const { world, book, ...rest } = parts(2);
  const disbursements = createDisbursements({ world, book, ...rest });
  for (let n = 0; n < 20; n += 1) {
    expect(disbursements.take(request(`open-${n}`, '237670000004'))).toBe('taken');
    expect(found(disbursements, `open-${n}`)).toMatchObject({ status: 'PENDING' });
  }
  world.advance(86_400_000);
  expect(found(disbursements, 'open-19')).toMatchObject({ status: 'PENDING' });
  expect(disbursements.find('open-0')).toBeUndefined();
  expect(disbursements.take(request('open-0', '237670000001'))).toBe('duplicate');
  expect(book.size()).toBe(0);
});

test('one reference used at both products is two movements', () => {
  const { world, book, ...rest } = parts(2);
  const collections = createCollections({ world, book, ...rest });
  const disbursements = createDisbursements({ world, book, ...rest });
  expect(collections.take(request('one', '237670000001'))).toBe('taken');
  expect(disbursements.find('one')).toBeUndefined();
  expect(disbursements.take(request('one', '237670000001'))).toBe('taken');
  world.advance(1_000);
  expect(book.lines({ reference: 'one' }).map(({ kind, times }) => [kind, times])).toEqual([
    ['debit', 1],
    ['credit', 1],
  ]);
});
