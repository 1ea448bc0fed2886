/** Environments of a gateway in production, and what is wrong with one. */
import { ConfigError, readConfig } from '../../src/config.ts';
import type { Environment } from '../../src/platform/environment.ts';

/** A master key. */
export const KEY = Buffer.alloc(32, 9).toString('base64');

export const PRODUCTION = { GATEWAY_MODE: 'production', MASTER_KEY: KEY, PUBLIC_URL: 'https://pay.example.com' };

/** Collections by MTN in a real market. */
export const MTN = {
  MTN_MOMO_BASE_URL: 'https://proxy.momoapi.mtn.com',
  MTN_MOMO_SUBSCRIPTION_KEY: 'a',
  MTN_MOMO_API_USER: 'b',
  MTN_MOMO_API_KEY: 'c',
  MTN_MOMO_TARGET_ENVIRONMENT: 'mtncongo',
};

/** Disbursements by MTN, beside `MTN`. */
export const DISBURSEMENT = {
  MTN_MOMO_DISBURSEMENT_SUBSCRIPTION_KEY: 'd',
  MTN_MOMO_DISBURSEMENT_API_USER: 'e',
  MTN_MOMO_DISBURSEMENT_API_KEY: 'f',
};

/** The line that says why a gateway does not start with this environment, or `none`. */
export function problemOf(environment: Environment): string {
  try {
    readConfig(environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  return 'none';
}
