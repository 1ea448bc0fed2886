/** The faults in the fields of the three bodies that have rules beyond their schema: all of them, at once. */
import { expect, test } from 'vitest';
import type { RefusalDetail } from '../domain/refusal.ts';
import { createOutbound } from '../platform/outbound.ts';
import type { MerchantCaller, SessionCaller } from '../usecases/callers.ts';
import { sessionFaults } from '../usecases/session-create.ts';
import type { JsonObject } from './json-body.ts';
import { collectFaults, submitCommand, submitFaults } from './payment-commands.ts';
import { CollectBody, SessionBody, SubmitBody } from './schemas.ts';
import { createBodyShape } from './shape.ts';
import { smallWorld } from './testing/small-world.ts';

const outbound = createOutbound({ allowLoopback: false, requireHttps: true });
const connectors = { card: undefined, servesMobileMoney: () => true };
const { rows } = smallWorld();

/** `1101 amount INVALID_AMOUNT …`, or an empty text if all is well. */
function faults(check: () => void): string {
  try {
    check();
    return '';
  } catch (error) {
    const { code, more } = error as { code: number; more: { details: readonly RefusalDetail[] } };
    return [code, ...more.details.flatMap(({ field, code }) => [field, code])].join(' ');
  }
}

function mint(body: JsonObject, settings = {}): string {
  const caller: MerchantCaller = { kind: 'merchant', merchant: { ...rows.merchant, settings }, credentialId: 'key' };
  const shape = createBodyShape(SessionBody);
  return faults(() => shape.require(body, (readable) => sessionFaults({ mode: 'production' }, caller, readable)));
}

function collect(body: JsonObject, settings = {}): string {
  const merchant = { ...rows.merchant, settings };
  const caller: SessionCaller = { kind: 'session', merchant, session: rows.session, fingerprint: undefined };
  const all = {
    user_info: 'none',
    payment_method_info: 'none',
    fee_covered_by: 'buyer',
    delivery_behaviour: 'direct_delivery',
    ...body,
  };
  const shape = createBodyShape(CollectBody);
  return faults(() => shape.require(all, (readable) => collectFaults({ outbound, connectors }, caller, readable)));
}

test('a mint reports malformed and meaningless fields together', () => {
  expect(mint({ amount: '12.50', currency: 'usd', customer_reference: 'x' })).toBe('');
  expect(mint({ amount: 'abc', currency: 'zzz', customer_reference: 'x', ttl_seconds: 'x' })).toBe(
    '1101 amount INVALID_AMOUNT currency INVALID_CURRENCY ttl_seconds WRONG_TYPE',
  );
  expect(mint({ amount: '1.234', currency: 'usd', ttl_seconds: 59 })).toBe(
    '1109 customer_reference REQUIRED amount INVALID_AMOUNT ttl_seconds OUT_OF_RANGE',
  );
  const settings = { scope_required: true, currencies: ['cdf'] };
  expect(mint({ amount: '1', currency: 'usd', customer_reference: 'x' }, settings)).toBe(
    '1109 scope SCOPE_MISSING currency CURRENCY_NOT_ALLOWED',
  );
  // A scope that cannot be read is not also reported as missing.
  expect(mint({ amount: '1', currency: 'cdf', customer_reference: 'x', scope: 'all' }, settings)).toBe(
    '1110 scope NOT_AN_OPTION',
  );
});

test('a collect names the missing fields of its method before malformed ones, each group in field order', () => {
  expect(collect({ payment_method: 'none' })).toBe('');
  expect(collect({ payment_method: 'wallet', email: 'x' })).toBe(
    '1109 wallet_number REQUIRED wallet_pin REQUIRED email INVALID_EMAIL',
  );
  expect(collect({ payment_method: 'wallet', wallet_number: '123', wallet_pin: 'x' })).toBe(
    '1110 wallet_pin MALFORMED_PIN',
  );
  expect(
    collect({ payment_method: 'none', phone_number: '0810000042', email: 'x', notify_url: 'http://127.0.0.1/x' }),
  ).toBe('1110 notify_url INVALID_URL email INVALID_EMAIL phone_number INVALID_PHONE_NUMBER');
  expect(collect({ payment_method: 'none', phone_number: '' })).toBe('1110 phone_number INVALID_PHONE_NUMBER');
  expect(collect({ payment_method: 'none', cardnet_payment_method: 'DIRECT_CAPTURE' })).toBe(
    '1103 cardnet_payment_method DIRECT_CAPTURE',
  );
});

test('a URL with any port may be opened by a browser, but not dialled by the gateway', () => {
  for (const port of [9, 81, 6379, 65_535]) {
    const url = `https://shop.example.com:${port}/thanks#paid`;
    expect(collect({ payment_method: 'none', success_redirect_url: url, fail_redirect_url: url })).toBe('');
  }
  for (const port of [9, 81, 6379]) {
    const notify_url = `https://shop.example.com:${port}/hooks`;
    expect(collect({ payment_method: 'none', notify_url })).toBe('1110 notify_url INVALID_URL');
  }
  for (const url of ['http://shop.example.com/', 'https://a:b@shop.example.com/', 'https://10.0.0.1:81/', 'data:x']) {
    expect(collect({ payment_method: 'none', fail_redirect_url: url })).toBe('1110 fail_redirect_url INVALID_URL');
  }
});

test('the currency of a transaction must be one of the merchant’s', () => {
  const body = { payment_method: 'none' };
  expect(collect({ ...body, transactional_currency: 'usd' })).toBe('');
  expect(collect({ ...body, transactional_currency: 'zzz' })).toBe('1102 transactional_currency INVALID_CURRENCY');
  expect(collect({ ...body, transactional_currency: 'usd' }, { currencies: ['cdf'] })).toBe(
    '1102 transactional_currency CURRENCY_NOT_ALLOWED',
  );
});

function submit(body: JsonObject): string {
  const shape = createBodyShape(SubmitBody);
  return faults(() => shape.require(body, (readable, unreadable) => submitFaults(readable, rows, unreadable)));
}

test('a submit reports a bad phone number together with missing fields', () => {
  expect(submit({ payment_id: 'short', mobile_money_phone_number: '081' })).toBe(
    '1109 payment_method_id REQUIRED payment_id TOO_SHORT mobile_money_phone_number INVALID_PHONE_NUMBER',
  );
});

test('a submit reports an unknown method together with other faults', () => {
  const payment_id = 'pay_0123456789';
  expect(submit({ payment_id, payment_method_id: 'zzz' })).toBe('');
  expect(submit({ payment_id, payment_method_id: 'zzz', mobile_money_phone_number: 'abc' })).toBe(
    '1103 payment_method_id UNKNOWN_PAYMENT_METHOD mobile_money_phone_number INVALID_PHONE_NUMBER',
  );
  expect(submit({ payment_id: 'short', payment_method_id: 'zzz' })).toBe(
    '1110 payment_id TOO_SHORT payment_method_id UNKNOWN_PAYMENT_METHOD',
  );
});

test('a required field of a method that is empty counts as missing', () => {
  const by = { payment_id: 'pay_0123456789', payment_method_id: 'wallet', mobile_money_phone_number: 'x' };
  expect(submit({ ...by, ewallet_number: '', ewallet_pin: '' })).toBe(
    '1109 ewallet_number REQUIRED ewallet_pin REQUIRED mobile_money_phone_number INVALID_PHONE_NUMBER',
  );
});

test('a submit names the missing fields of its method before malformed ones', () => {
  const payment_id = 'pay_0123456789';
  const by = (payment_method_id: string, body: JsonObject = {}) => submit({ payment_id, payment_method_id, ...body });
  expect(by('wallet', { ewallet_pin: 'x' })).toBe('1109 ewallet_number REQUIRED ewallet_pin MALFORMED_PIN');
  expect(by('wallet', { ewallet_number: '5707', ewallet_pin: '1234' })).toBe('');
  // On its own the fault waits until the payment is known, which may have another method.
  expect(by('flash')).toBe('');
  expect(by('flash', { payment_id: 'short' })).toBe(
    '1109 flash_number REQUIRED flash_pin REQUIRED payment_id TOO_SHORT',
  );
  const browser = { accept: undefined, userAgent: undefined, language: undefined, address: undefined };
  expect(submitCommand({ payment_id, payment_method_id: 'flash' }, rows, browser).means).toEqual({
    method: 'flash',
    missing: ['flash_number', 'flash_pin'],
  });
  const mixed = { payment_id, payment_method_id: 'flash', flash_number: '', ewallet_number: '5707', flash_pin: '1234' };
  expect(submitCommand({ ...mixed, ewallet_pin: '9999' }, rows, browser).means).toEqual({
    method: 'flash',
    number: '5707',
    numberField: 'ewallet_number',
    pin: '1234',
    pinField: 'flash_pin',
  });
  expect(by('flash', { ewallet_number: '5707', flash_pin: '1234' })).toBe('');
  // A field that cannot be read is not missing, nor is the field that it replaces.
  expect(by('flash', { ewallet_number: '5707', ewallet_pin: 'x' })).toBe('1110 ewallet_pin MALFORMED_PIN');
  expect(by('mobile_money', { payment_id: 'short' })).toBe(
    '1109 mobile_money_phone_number REQUIRED payment_id TOO_SHORT',
  );
  expect(by('mobile_money', { mobile_money_phone_number: '081' })).toBe(
    '1110 mobile_money_phone_number INVALID_PHONE_NUMBER',
  );
  expect(by('card', { payment_id: 'short' })).toBe(
    '1109 cardnet_payment_method REQUIRED session_id REQUIRED payment_id TOO_SHORT',
  );
  expect(by('bank_transfer', { payment_id: 'short' })).toBe('1109 bank_account_id REQUIRED payment_id TOO_SHORT');
  // The method that the customer chose at collect is not known here.
  expect(by('none')).toBe('');
});
