import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { holdsCardNumber, isCardField, isCardName, isCardNumber, isExpiryField } from './card-data.ts';

/** Test numbers of the networks, as every processor publishes them. */
const CARDS = ['4111111111111111', '5123450000000008', '378282246310005', '6011111111111117', '6304000000000000'];

describe('card numbers', () => {
  it.each(CARDS)('are found alone, grouped and within a text (%#)', (card) => {
    const blanks = card.replaceAll(/(.{4})(?=.)/g, '$1 ');
    for (const text of [
      card,
      blanks,
      blanks.replaceAll(' ', '-'),
      `pay ${card} now`,
      `(${blanks}).`,
      `no. 1 - ${blanks} 123`,
    ]) {
      expect(holdsCardNumber(text)).toBe(true);
    }
  });

  it.each([
    ['several blanks', '4111  1111   1111 1111'],
    ['no-break blanks', '4111\u00a01111\u00a01111\u202f1111'],
    ['no-break hyphens', '4111\u20111111\u20111111\u20111111'],
    ['dashes between blanks', '4111 – 1111 — 1111 – 1111'],
    ['minus signs', '4111\u22121111\u22121111\u22121111'],
    ['points', '3782.822463.10005'],
    ['points and blanks', '4111. 1111. 1111. 1111'],
    ['groups of three', '411 111 111 111 1111'],
    ['underscores', '4111_1111_1111_1111'],
    ['a first track', '%B4111111111111111^DOE/JOHN^2512101'],
    ['a second track', ';4111111111111111=2512101?'],
    ['slashes', 'card 4111/1111/1111/1111.'],
    ['full-width digits', '４１１１１１１１１１１１１１１１'],
    ['Arabic digits', '٤١١١ ١١١١ ١١١١ ١١١١'],
    ['digits of India', '४१११११११११११११११'],
    ['digits whose row follows another one', '\u{116de}\u{116db}\u{116db}\u{116db}111111111111'],
    ['signs for two digits each', '㊶⑪⑪⑪⑪⑪⑪⑪'],
    ['digits in full circles', `❹${'❶'.repeat(15)}`],
    ['the last digit in full circles', `❹${'❾'.repeat(14)}❻`],
    ['digits within brackets', `⑷${'⑴'.repeat(15)}`],
    ['digits before points', `⒋${'⒈'.repeat(15)}`],
    ['digits of Ethiopia', `፬${'፩'.repeat(15)}`],
    ['digits on keys', `4\ufe0f\u20e3${'1\ufe0f\u20e3'.repeat(15)}`],
    ['digits with marks', `4\u0301${'1\u0301'.repeat(15)}`],
    ['a mark that cannot be seen', '4111\u034f1111\u034f1111\u034f1111'],
    ['letters that cannot be seen', '4111\u31641111\u31641111\u31641111'],
    ['tabs', '4111\t1111\t1111\t1111'],
    ['lines', '4111\n1111\u20281111\n1111'],
    ['one long group after a blank, as some cards of UnionPay show it', '622126 0000000001009'],
    ['two halves', '41111111 11111111'],
    ['a dash and a blank', '4111-1111 11111111'],
    ['control characters', '4111\u00001111\u00011111\u001f1111'],
    ['halves of pairs', '4111\ud8001111\ud83d1111\udc001111'],
    ['blanks of Braille', '4111\u28001111\u28001111\u28001111'],
    ['slashes of fractions', '4111⁄1111∕1111⁄1111'],
    ['what cannot be seen', '4111\u200b1111\u00ad1111\u20601111'],
    ['a plus before fifteen digits', '+378282246310005'],
    ['a plus before American Express’s own groups', '＋3782 822463 10005'],
  ])('are found with %s', (_name, text) => {
    expect(holdsCardNumber(text)).toBe(true);
  });

  it('are found in groups of any size where a person types one number', () => {
    expect(['41 11 11 11 11 11 11 11', '4-1.1_1/1111 11111111', CARDS[0] ?? ''].filter(isCardNumber)).toHaveLength(3);
    // What else was typed does not hide it.
    expect(isCardNumber('4111 1111 1111 1111 12/27 123')).toBe(true);
    expect(['+243 81 00 00 042', '41 11 11 11 11 11 11 12', ''].filter(isCardNumber)).toEqual([]);
  });

  it('are not seen in what only looks like one', () => {
    const fine = [
      '4111111111111112',
      '٤١١١١١١١١١١١١١١٢',
      '5707000000000000',
      '+243810000042',
      '0024381000004212',
      // Phone numbers that happen to pass as card numbers.
      '+62812345678901',
      '+628 1234 567 8901',
      '+6281 2345.6789/01',
      '+34612345678 1239',
      '+37 8282 2463 10005',
      'call +37-8282-2463-10005 now',
      `x${CARDS[0]}`,
      `${CARDS[0]}x`,
      `0.${CARDS[0]}`,
      `${CARDS[0]}.00`,
      '2026-11-20T12:00:00.000Z',
      '2026-11-20 12:00:00.123456',
      '20261120.120000',
      '1763640000.123456',
      '1 000 000 000 000.00',
      '411.111.111.111.116',
      // Grouped as amounts and times are, and not as cards: each passes as one by its digits.
      '4.111.111.111.111.111',
      '411.111.111.111.1111',
      '4111111.111111111',
      '411111.11111.1111.1',
      '411111.11111.1111. 1',
      '4111111111111.110',
      '192.168.100.200:4111',
      '41111111-1111-4111-8111-111111111111',
      '',
    ];
    expect(fine.filter(holdsCardNumber)).toEqual([]);
  });

  it.each([
    ['a customer and a time in milliseconds', '471-1796030993310'],
    ['a longer one', '500104_1796030993312'],
    ['a customer and a time in seconds', '3612-1796030999'],
    ['a shop, a day and a number', '6364-20261130-1002'],
    ['a shop, a customer and a time', '680-9377-1796030998'],
    ['a customer, a time and a number', '679-1796030993312-1'],
  ])('are not seen in a reference of %s, although the check digit is right', (_name, reference) => {
    expect(holdsCardNumber(reference)).toBe(false);
    expect(isCardNumber(reference)).toBe(true);
  });

  it('are found from thirteen digits on', () => {
    expect(['6304000000000', 'card 6759 0000 00005'].filter(holdsCardNumber)).toHaveLength(2);
  });

  it('are never seen in a UUID', () => {
    expect(holdsCardNumber('41111111-1111-1111-abcd-abcdefabcdef')).toBe(false);
    fc.assert(fc.property(fc.uuid(), (uuid) => !holdsCardNumber(uuid) && !holdsCardNumber(`order ${uuid}`)));
  });

  it('are searched for character by character: a long run of combining marks is never reordered', () => {
    const normalize = vi.spyOn(String.prototype, 'normalize');
    const marks = '\u0315'.repeat(100) + '\u0327'.repeat(100);
    expect(holdsCardNumber(`e${marks} ４111111111111111`)).toBe(true);
    const lengths = normalize.mock.contexts.map((text) => String(text).length);
    normalize.mockRestore();
    expect(Math.max(...lengths)).toBe(1);
  });

  it('are not all looked up if too many pass the check digit: such a text is refused', () => {
    expect(holdsCardNumber('1111111111111117 '.repeat(100))).toBe(false);
    expect(holdsCardNumber('1111111111111117 '.repeat(20_000))).toBe(true);
  });
});

describe('fields of card data', () => {
  it.each(['card_number', 'cardNumber', 'CARD-NUMBER', 'cvv', 'CVC', 'cvn', 'CV2', 'security_code'])(
    '%s is one if it has a value',
    (name) => {
      for (const value of ['1', '١٢٣', 12, {}]) expect(isCardField(name, value)).toBe(true);
      for (const none of ['', null, 'n/a', 'Goma', true]) expect(isCardField(name, none)).toBe(false);
    },
  );

  it.each(['expiry', 'expiry_month', 'exp_year', 'Expiration-Date'])('%s is one only beside a card', (name) => {
    expect([isCardField(name, '1'), isExpiryField(name, '1'), isExpiryField(name, '')]).toEqual([false, true, false]);
  });

  it('a name that means a card is one; a name that only contains the letters is not', () => {
    expect(['card', 'card_holder', 'cardType', 'PAN', 'pan_last4'].filter((name) => !isCardName(name))).toEqual([]);
    expect(['cardnet_payment_method', 'cardinality', 'panel', 'discard', 'id_card'].filter(isCardName)).toEqual([]);
  });

  it('a plus does not hide a card number that is too long for a phone', () => {
    expect(holdsCardNumber(`+${CARDS[0]}`)).toBe(true);
    expect(holdsCardNumber(`+243810000042, ${CARDS[0]}`)).toBe(true);
  });

  it.each(['cardnet_payment_method', 'expires_at', 'note', 'card', 'experience', 'x'.repeat(1_000)])(
    '%s is not one',
    (name) => {
      expect(isCardField(name, '1')).toBe(false);
    },
  );
});
