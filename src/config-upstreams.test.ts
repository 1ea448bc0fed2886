/** The variables of the upstreams: real ones belong to production, and a sandbox's own to a sandbox. */
import { expect, test } from 'vitest';
import { DISBURSEMENT, MTN, PRODUCTION, problemOf } from '../test/support/environments.ts';
import { readConfig } from './config.ts';

test.each([
  ['CARDNET_CALLBACK_SECRET', 'sandbox-cardnet-callback-secret'],
  ['MTN_MOMO_SUBSCRIPTION_KEY', 'sandbox-collection'],
  ['MTN_MOMO_API_USER', '5ba0d1c4-5f0e-4b3a-9d6e-7f0a1c2b3d4e'],
  ['MTN_MOMO_API_KEY', 'sandbox-api-key'],
  ['MTN_MOMO_TARGET_ENVIRONMENT', 'sandbox'],
  ['MTN_MOMO_DISBURSEMENT_SUBSCRIPTION_KEY', 'sandbox-disbursement'],
  ['MTN_MOMO_DISBURSEMENT_API_USER', '8c1e7f52-3b9d-4c60-a1f7-2d4e6b8a0c93'],
  ['MTN_MOMO_DISBURSEMENT_API_KEY', 'sandbox-disbursement-api-key'],
  ['SMS_TOKEN', 'sandbox-sms'],
])('production refuses the %s of the sandbox', (name, value) => {
  expect(
    problemOf({
      ...PRODUCTION,
      ...MTN,
      ...DISBURSEMENT,
      SMS_URL: 'https://sms.example.com',
      SMS_TOKEN: 't',
      [name]: value,
    }),
  ).toMatch(new RegExp(`^${name} is the sandbox's`));
});

test('a sandbox refuses a market where money is real', () => {
  const problem = /^MTN_MOMO_TARGET_ENVIRONMENT names a market where money is real.* set GATEWAY_MODE=production$/;
  expect(problemOf({ ...MTN, ...DISBURSEMENT })).toMatch(problem);
  expect(problemOf({ MTN_MOMO_TARGET_ENVIRONMENT: 'mtnuganda' })).toMatch(problem);
  const theirs = { ...MTN, MTN_MOMO_BASE_URL: 'https://sandbox.momodeveloper.mtn.com' };
  const config = readConfig({ ...theirs, MTN_MOMO_TARGET_ENVIRONMENT: 'sandbox' });
  expect(config.mtnMomo?.baseUrl).toBe('https://sandbox.momodeveloper.mtn.com');
});

test('production may collect by MTN, pay out by it, or both', () => {
  const { MTN_MOMO_BASE_URL, MTN_MOMO_TARGET_ENVIRONMENT } = MTN;
  const address = { MTN_MOMO_BASE_URL, MTN_MOMO_TARGET_ENVIRONMENT };
  for (const [environment, takes, sends] of [
    [MTN, true, false],
    [{ ...address, ...DISBURSEMENT }, false, true],
    [{ ...MTN, ...DISBURSEMENT }, true, true],
  ] as const) {
    const config = readConfig({ ...PRODUCTION, ...environment });
    expect([config.mtnMomo !== undefined, config.mtnMomoDisbursement !== undefined]).toEqual([takes, sends]);
  }
});

test('production without upstreams has none', () => {
  const config = readConfig(PRODUCTION);
  expect(config.mtnMomo).toBeUndefined();
  expect(config.mtnMomoDisbursement).toBeUndefined();
  expect(config.sms).toBeUndefined();
  expect(config.cardnetCallbackSecret).toBeUndefined();
});
