/**
 * The variables of the upstreams: carriers, the card network, text messages.
 *
 * Invariant: each upstream is set as a whole or is off, and production never starts with the sandbox's publicly known
 * credentials.
 */
import { CURRENCIES, type Currency, isCurrency } from './domain/currency.ts';
import type { EnvironmentReader, UrlRules } from './platform/environment.ts';

/**
 * `sandbox`: simulated upstreams, and money that does not exist. `production`: real ones; the sandbox's public credentials are
 * refused (contract §10).
 */
export type GatewayMode = 'sandbox' | 'production';

/** The MTN MoMo connector's credentials for one product, from MTN's developer portal. */
export interface MtnMomoConfig {
  /** `MTN_MOMO_BASE_URL`, without a slash at the end. */
  readonly baseUrl: string;
  /** `MTN_MOMO_SUBSCRIPTION_KEY`, `MTN_MOMO_DISBURSEMENT_SUBSCRIPTION_KEY`. Secret. */
  readonly subscriptionKey: string;
  /** `MTN_MOMO_API_USER`, `MTN_MOMO_DISBURSEMENT_API_USER`: a UUID. */
  readonly apiUser: string;
  /** `MTN_MOMO_API_KEY`, `MTN_MOMO_DISBURSEMENT_API_KEY`. Secret. */
  readonly apiKey: string;
  /** `MTN_MOMO_TARGET_ENVIRONMENT`: `sandbox`, `mtncongo`, `mtnuganda`, … */
  readonly targetEnvironment: string;
  /** `MTN_MOMO_CALLBACK_HOST`: the base of callback addresses, where it differs from PUBLIC_URL. */
  readonly callbackHost?: string;
}

/** The card network's credentials (Mastercard Gateway), from the acquirer. */
export interface CardnetConfig {
  /** `CARDNET_BASE_URL`, without a slash at the end. */
  readonly baseUrl: string;
  /** `CARDNET_MERCHANT_ID`. */
  readonly merchantId: string;
  /** `CARDNET_API_PASSWORD`. Secret. */
  readonly apiPassword: string;
  /** `CARDNET_API_VERSION`. */
  readonly apiVersion: number;
  /** `CARDNET_FORM_URL`: where browsers load the hosted form from; absent: `baseUrl`. */
  readonly formUrl: string;
  /** `CARDNET_CURRENCIES`: those that the acquirer accepts; absent: all that the gateway serves. */
  readonly currencies?: readonly Currency[];
}

/** The service that sends one-time codes as text messages. */
export interface SmsConfig {
  /** `SMS_URL`. */
  readonly url: string;
  /** `SMS_TOKEN`: sent as a Bearer token. Secret. */
  readonly token: string;
}

/** The variables of upstreams: they lead to real ones, with real credentials. */
export const UPSTREAM_VARIABLES = /^(MTN_MOMO|CARDNET|SMS)_/;

/** MTN's products, each configured as one block. */
interface MtnMomoProducts {
  /** Collections: absent in production when none of its variables is set, then no phone is charged. */
  readonly mtnMomo?: MtnMomoConfig;
  /** Disbursements: absent in production when none of its variables is set, then no phone is paid. */
  readonly mtnMomoDisbursement?: MtnMomoConfig;
}

/** The sandbox's credentials. They are public, so production refuses each of them. */
const SANDBOX = {
  MTN_MOMO_SUBSCRIPTION_KEY: 'sandbox-collection',
  MTN_MOMO_API_USER: '5ba0d1c4-5f0e-4b3a-9d6e-7f0a1c2b3d4e',
  MTN_MOMO_API_KEY: 'sandbox-api-key',
  MTN_MOMO_DISBURSEMENT_SUBSCRIPTION_KEY: 'sandbox-disbursement',
  MTN_MOMO_DISBURSEMENT_API_USER: '8c1e7f52-3b9d-4c60-a1f7-2d4e6b8a0c93',
  MTN_MOMO_DISBURSEMENT_API_KEY: 'sandbox-disbursement-api-key',
  MTN_MOMO_TARGET_ENVIRONMENT: 'sandbox',
  SMS_TOKEN: 'sandbox-sms',
  CARDNET_CALLBACK_SECRET: 'sandbox-cardnet-callback-secret',
  CARDNET_MERCHANT_ID: 'TESTMBONGO',
  CARDNET_API_PASSWORD: 'sandbox-cardnet-password',
} as const;

type CredentialName = keyof typeof SANDBOX;

/** The one that is our own signing key rather than a credential issued to us: a short one could be guessed. */
const SIGNING = 'CARDNET_CALLBACK_SECRET';
const MIN_SECRET = 16;

/** A variable's name, and its value where it has one. */
interface Named {
  readonly name: string;
  readonly value: string | undefined;
}

/** A credential: in sandbox mode the sandbox's own if none is set; production refuses that one. */
export function readCredential(env: EnvironmentReader, name: CredentialName, mode: GatewayMode): Named {
  const value = env.text(name);
  if (mode === 'sandbox') return { name, value: value ?? SANDBOX[name] };
  if (value === SANDBOX[name]) {
    env.problem(name, `is the sandbox's, which is public: production needs your own, for example ${name}=…`);
  } else if (name === SIGNING && value !== undefined && value.length < MIN_SECRET) {
    const example = `${name}="$(openssl rand -base64 32)"`;
    env.problem(
      name,
      `authenticates callbacks about payments: it must have at least ${MIN_SECRET} characters, for example ${example}`,
    );
  }
  return { name, value };
}

/** The variables of each MTN product. */
const COLLECTION = {
  subscriptionKey: 'MTN_MOMO_SUBSCRIPTION_KEY',
  apiUser: 'MTN_MOMO_API_USER',
  apiKey: 'MTN_MOMO_API_KEY',
} as const;
const DISBURSEMENT = {
  subscriptionKey: 'MTN_MOMO_DISBURSEMENT_SUBSCRIPTION_KEY',
  apiUser: 'MTN_MOMO_DISBURSEMENT_API_USER',
  apiKey: 'MTN_MOMO_DISBURSEMENT_API_KEY',
} as const;

/** Two products at one address: a gateway may have both, or one of them. */
function readMtnMomo(env: EnvironmentReader, mode: GatewayMode, sandboxPort: number): MtnMomoProducts {
  const baseUrl = upstreamUrl(env, 'MTN_MOMO_BASE_URL', mode, {
    sandbox: `http://127.0.0.1:${sandboxPort}/mtn`,
    example: 'https://proxy.momoapi.mtn.com',
  });
  const targetEnvironment = readMarket(env, mode);
  const callbackHost = env.url('MTN_MOMO_CALLBACK_HOST', {
    example: 'https://callbacks.example.com',
    https: httpsFor(mode),
  });
  const read = (own: typeof COLLECTION | typeof DISBURSEMENT): MtnMomoConfig | undefined => {
    const block = readBlock(env, {
      baseUrl,
      subscriptionKey: readCredential(env, own.subscriptionKey, mode),
      apiUser: readCredential(env, own.apiUser, mode),
      apiKey: readCredential(env, own.apiKey, mode),
      targetEnvironment,
    });
    return block && { ...block, ...present('callbackHost', callbackHost) };
  };
  // The variables that both share do not say which product is meant: unless a disbursement variable is set, it is collections.
  const isSet = (own: object) => Object.values(own).some((name: string) => env.text(name) !== undefined);
  const paysOut = mode === 'sandbox' || isSet(DISBURSEMENT);
  const collects = mode === 'sandbox' || !paysOut || isSet(COLLECTION);
  return {
    ...present('mtnMomo', collects ? read(COLLECTION) : undefined),
    ...present('mtnMomoDisbursement', paysOut ? read(DISBURSEMENT) : undefined),
  };
}

/**
 * The market. A sandbox gives merchants money that nobody has paid in, and that must never leave through a real carrier: whoever
 * names a real market there has forgotten the mode, which is a sandbox's if it is not set.
 */
function readMarket(env: EnvironmentReader, mode: GatewayMode): Named {
  const market = readCredential(env, 'MTN_MOMO_TARGET_ENVIRONMENT', mode);
  if (mode === 'sandbox' && market.value !== SANDBOX.MTN_MOMO_TARGET_ENVIRONMENT) {
    const why = 'merchants of a sandbox have money that does not exist';
    env.problem(market.name, `names a market where money is real, and ${why}: set GATEWAY_MODE=production`);
  }
  return market;
}

/** All carriers: one that is not configured is absent. */
export type CarriersConfig = MtnMomoProducts;

/** The parts of the configuration that are carriers'. */
const CARRIERS = { mtnMomo: true, mtnMomoDisbursement: true } satisfies {
  readonly [part in keyof CarriersConfig]: true;
};

/**
 * The configured carriers; in sandbox mode all of them, at the simulator on `sandboxPort` where nothing else is set. What is wrong
 * with a variable is noted in `env`, not thrown.
 */
export function readCarriers(env: EnvironmentReader, mode: GatewayMode, sandboxPort: number): CarriersConfig {
  return { ...readMtnMomo(env, mode, sandboxPort) };
}

/** Whether some carrier is configured. */
export function hasCarrier(config: CarriersConfig): boolean {
  return (Object.keys(CARRIERS) as (keyof CarriersConfig)[]).some((part) => config[part] !== undefined);
}

/** The network supports versions 57 to 100; before 72 its answers have other names for what is read here. */
const CARDNET_VERSIONS = { from: 72, to: 100 } as const;

/**
 * The card network; undefined: cards are off, because its credentials are not set, or not all of them, which is noted in `env`. In
 * sandbox mode the simulator on `sandboxPort` stands in for what is not set.
 */
export function readCardnet(env: EnvironmentReader, mode: GatewayMode, sandboxPort: number): CardnetConfig | undefined {
  const block = readBlock(env, {
    baseUrl: upstreamUrl(env, 'CARDNET_BASE_URL', mode, {
      sandbox: `http://127.0.0.1:${sandboxPort}/cardnet`,
      example: 'https://ap-gateway.mastercard.com',
    }),
    merchantId: readCredential(env, 'CARDNET_MERCHANT_ID', mode),
    apiPassword: readCredential(env, 'CARDNET_API_PASSWORD', mode),
  });
  const apiVersion = env.whole('CARDNET_API_VERSION', CARDNET_VERSIONS, CARDNET_VERSIONS.to);
  const formUrl = env.url('CARDNET_FORM_URL', { example: 'https://ap-gateway.mastercard.com', https: httpsFor(mode) });
  const currencies = readCurrencies(env, 'CARDNET_CURRENCIES');
  if (block === undefined) return undefined;
  // The sandbox serves its form from another origin than its API, as the real form has another origin than the gateway's pages.
  const own = mode === 'sandbox' && env.text('CARDNET_BASE_URL') === undefined;
  return {
    ...block,
    apiVersion,
    formUrl: formUrl ?? (own ? `http://localhost:${sandboxPort}/cardnet` : block.baseUrl),
    ...present('currencies', currencies),
  };
}

function readCurrencies(env: EnvironmentReader, name: string): readonly Currency[] | undefined {
  const value = env.text(name);
  if (value === undefined) return undefined;
  const parts = value.split(',').map((part) => part.trim().toLowerCase());
  const known = parts.filter(isCurrency);
  if (known.length === parts.length) return Object.freeze(known);
  const served = CURRENCIES.join(', ');
  env.problem(
    name,
    `contains a currency that the gateway does not serve: use some of ${served}, for example ${name}=usd,cdf`,
  );
  return undefined;
}

/**
 * The service for text messages; undefined: it is not set, or only half of it, which is noted in `env`. In sandbox mode the
 * simulator on `sandboxPort` stands in for what is not set.
 */
export function readSms(env: EnvironmentReader, mode: GatewayMode, sandboxPort: number): SmsConfig | undefined {
  return readBlock(env, {
    url: upstreamUrl(env, 'SMS_URL', mode, {
      sandbox: `http://127.0.0.1:${sandboxPort}/sms`,
      example: 'https://sms.example.com/send',
    }),
    token: readCredential(env, 'SMS_TOKEN', mode),
  });
}

/** Credentials are sent to upstreams, and customers' data: production accepts http only for this machine itself. */
function httpsFor(mode: GatewayMode): NonNullable<UrlRules['https']> {
  return mode === 'production' ? 'unless-local' : false;
}

/** An upstream's address: the one that is set, or in a sandbox the simulator's. */
function upstreamUrl(
  env: EnvironmentReader,
  name: string,
  mode: GatewayMode,
  address: { readonly sandbox: string; readonly example: string },
): Named {
  const url = env.url(name, { example: address.example, https: httpsFor(mode) });
  return { name, value: url ?? (mode === 'sandbox' ? address.sandbox : undefined) };
}

/**
 * Reads a block that is set as a whole. None of it set: undefined, the upstream is off. Some of it: the first missing one is
 * reported.
 */
function readBlock<K extends string>(
  env: EnvironmentReader,
  fields: { readonly [key in K]: Named },
): { readonly [key in K]: string } | undefined {
  const all = Object.values<Named>(fields);
  const missing = all.filter(({ name, value }) => env.text(name) === undefined && value === undefined);
  const set = all.filter(({ name }) => env.text(name) !== undefined);
  if (missing.length > 0 && set.length > 0) {
    const names = set.map(({ name }) => name).join(', ');
    env.problem(missing[0]?.name ?? '', `is missing, while ${names} is set: set all of them or none`);
  }
  if (all.some(({ value }) => value === undefined)) return undefined;
  const values = Object.entries<Named>(fields).map(([key, { value }]) => [key, value] as const);
  return Object.fromEntries(values) as { [key in K]: string };
}

/** An object with the property if there is a value, otherwise an empty one. */
export function present<K extends string, V>(key: K, value: V | undefined): { [name in K]?: V } {
  return value === undefined ? {} : ({ [key]: value } as { [name in K]: V });
}
