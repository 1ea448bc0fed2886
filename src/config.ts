/**
 * The environment, as one validated and frozen object (contract §10).
 *
 * Invariant: a value that stands here is usable as it is; a bad one stops the start with one line that names it, and
 * production never starts with what everybody knows: the sandbox's credentials, a missing key, an open address.
 */
import { accessSync, constants } from 'node:fs';
import { resolve } from 'node:path';
import { CURRENCIES, type Currency, isCurrency } from './domain/currency.ts';
import { type Environment, type EnvironmentReader, readEnvironment } from './platform/environment.ts';
import { parseMasterKey } from './platform/keyring.ts';
import type { LogLevel } from './platform/log.ts';

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
  /** `CARDNET_CURRENCIES`: those that the acquirer takes; absent: all that the gateway serves. */
  readonly currencies?: readonly Currency[];
}

/** Where one-time codes are handed over as text messages. */
export interface SmsConfig {
  /** `SMS_URL`. */
  readonly url: string;
  /** `SMS_TOKEN`: sent as a Bearer token. Secret. */
  readonly token: string;
}

/** OpenTelemetry's own variables; what the exporter reads besides them stands in docs/operating.md. */
export interface TracesConfig {
  /** `OTEL_EXPORTER_OTLP_ENDPOINT`: a collector that speaks OTLP over HTTP, without a slash at the end. */
  readonly endpoint: string;
  /** `OTEL_SERVICE_NAME`. */
  readonly serviceName: string;
  /** `OTEL_TRACES_SAMPLER_ARG`: the share of transactions that is recorded, 0 to 1. */
  readonly share: number;
}

export interface Config {
  /** `GATEWAY_MODE`. */
  readonly mode: GatewayMode;
  /** `DATABASE_URL`; absent: the embedded database under `dataDir`. Holds a password. */
  readonly databaseUrl?: string;
  /** `DATA_DIR`, made absolute. */
  readonly dataDir: string;
  /** `HOST`: the address to listen on. */
  readonly host: string;
  /** `PORT`; 0 takes any free one. */
  readonly port: number;
  /** `SANDBOX_PORT`: where the sandbox networks listen. */
  readonly sandboxPort: number;
  /** `WORKER_PORT`: where a process of the role worker answers about its health and metrics; absent: nowhere. */
  readonly workerPort?: number;
  /** `DRAIN_MS`: how long a process that was told to stop says that it is not ready before it accepts nothing more. */
  readonly drainMs: number;
  /** `PUBLIC_URL`: how the world reaches this gateway, without a slash at the end; absent: where it listens. */
  readonly publicUrl: string;
  /** `MASTER_KEY`: base64, 32 bytes each, the active one first. Empty only in sandbox mode: one is made (master-key.ts). */
  readonly masterKeys: readonly string[];
  /** `CARDNET_CALLBACK_SECRET`: shared with the card network. Absent: its callbacks are refused. */
  readonly cardnetCallbackSecret?: string;
  /** Where traces go; absent: nothing is recorded. */
  readonly traces?: TracesConfig;
  /** `LOG_LEVEL`. */
  readonly logLevel: LogLevel;
  /** `RATE_LIMIT_SCALE`: multiplies the traffic limits; 0 switches them off. */
  readonly rateLimitScale: number;
  /** `TRUST_PROXY`: addresses and networks whose X-Forwarded-For counts. */
  readonly trustProxy: readonly string[];
  /** `CARRIER_ROUTES`: an absolute path of a JSON file of number routes; absent: the routes of the mode. */
  readonly carrierRoutes?: string;
  /** Collections: absent in production when none of its variables is set, then no phone is charged. */
  readonly mtnMomo?: MtnMomoConfig;
  /** Disbursements: absent in production when none of its variables is set, then no phone is paid. */
  readonly mtnMomoDisbursement?: MtnMomoConfig;
  /** Absent in production when none of its variables is set: cards are off. */
  readonly cardnet?: CardnetConfig;
  /** Absent in production when none of its variables is set: no text can be sent. */
  readonly sms?: SmsConfig;
}

/** Something to look at, that does not stop the start. The detail is one line and shows no secret. */
export interface Warning {
  readonly about: 'public_url' | 'texts' | 'carriers';
  readonly detail: string;
}

/** The environment cannot be used. The message is one line, names the variables and shows no secret. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

const PUBLIC_URL_EXAMPLE = 'https://pay.example.com';

/** Known to everybody who reads this: production refuses each of them. */
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

/**
 * Reads the configuration. `defaults` stand in for variables that the environment leaves out.
 *
 * @throws ConfigError, one line for all problems.
 */
export function readConfig(environment: Environment, defaults: Environment = {}): Config {
  const env = readEnvironment(withDefaults(environment, defaults));
  const mode = env.word<GatewayMode>('GATEWAY_MODE', ['sandbox', 'production'], 'sandbox');
  const port = env.whole('PORT', { from: 0, to: 65_535 }, 8080);
  const host = env.text('HOST') ?? '127.0.0.1';
  const sandboxPort = env.whole('SANDBOX_PORT', { from: 1, to: 65_535 }, 8090);
  if (mode === 'sandbox' && port === sandboxPort) {
    env.problem(
      'SANDBOX_PORT',
      `is the same as PORT: both listen, for example SANDBOX_PORT=${port === 8090 ? 8091 : 8090}`,
    );
  }
  const config = {
    mode,
    ...present('databaseUrl', readDatabaseUrl(env)),
    dataDir: resolve(env.text('DATA_DIR') ?? '.data'),
    host,
    port,
    sandboxPort,
    ...present('workerPort', readWorkerPort(env)),
    drainMs: env.whole('DRAIN_MS', { from: 0, to: 60_000 }, 0),
    publicUrl: readPublicUrl(env, mode) ?? listenUrl(host, port),
    masterKeys: readMasterKeys(env, mode),
    ...present('cardnetCallbackSecret', readCredential(env, 'CARDNET_CALLBACK_SECRET', mode).value),
    ...present('traces', readTraces(env)),
    logLevel: env.word<LogLevel>('LOG_LEVEL', ['debug', 'info', 'warn', 'error', 'silent'], 'info'),
    rateLimitScale: env.decimal('RATE_LIMIT_SCALE', 1),
    trustProxy: env.networks('TRUST_PROXY'),
    ...present('carrierRoutes', readFilePath(env, 'CARRIER_ROUTES', './carrier-routes.json')),
    ...readMtnMomo(env, mode, sandboxPort),
    ...present('cardnet', readCardnet(env, mode, sandboxPort)),
    ...present('sms', readSms(env, mode, sandboxPort)),
  };
  const problems = env.problems();
  if (problems !== undefined) throw new ConfigError(problems);
  return freeze(config);
}

/** An empty variable must not hide a default: compose files pass on what is not set as an empty text. */
function withDefaults(environment: Environment, defaults: Environment): Environment {
  const set = Object.entries(environment).filter(([, value]) => value !== undefined && value.trim() !== '');
  return { ...defaults, ...Object.fromEntries(set) };
}

function readDatabaseUrl(env: EnvironmentReader): string | undefined {
  const value = env.text('DATABASE_URL');
  // Not parsed: PostgreSQL's form names several hosts for a failover, and `URL` does not read those.
  if (value === undefined || /^postgres(ql)?:\/\/\S+$/.test(value)) return value;
  const example = 'postgresql://mbongo:PASSWORD@127.0.0.1:5432/mbongo';
  const rule = 'it must begin with postgresql:// and hold no blanks';
  env.problem('DATABASE_URL', `cannot be used: ${rule}, for example DATABASE_URL=${example}`);
  return undefined;
}

function readPublicUrl(env: EnvironmentReader, mode: GatewayMode): string | undefined {
  return env.url('PUBLIC_URL', { example: PUBLIC_URL_EXAMPLE, https: mode === 'production' });
}

function readWorkerPort(env: EnvironmentReader): number | undefined {
  return env.text('WORKER_PORT') === undefined ? undefined : env.whole('WORKER_PORT', { from: 0, to: 65_535 }, 9464);
}

/** Where we listen, as an address that can be called: of every address it takes this machine's own. */
export function listenUrl(host: string, port: number): string {
  const every = host === '0.0.0.0' || host === '::';
  return `http://${every ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** What works, and yet is hardly what is wanted: one line each, for the start and for `doctor`. */
export function warningsOf({ mode, publicUrl, mtnMomo, mtnMomoDisbursement, sms }: Config): readonly Warning[] {
  const warnings: Warning[] = [];
  // Production takes nothing but https for a PUBLIC_URL that is set.
  if (mode === 'production' && publicUrl.startsWith('http:')) {
    const example = `for example PUBLIC_URL=${PUBLIC_URL_EXAMPLE}`;
    const detail = `PUBLIC_URL is not set: callers and upstreams are told ${publicUrl}, which the world cannot reach, ${example}`;
    warnings.push({ about: 'public_url', detail });
  }
  if (sms === undefined) {
    const detail =
      'SMS_URL is not set: no one-time code can be sent, so that wallet payments above the threshold cannot be paid';
    warnings.push({ about: 'texts', detail });
  }
  if (mtnMomo === undefined && mtnMomoDisbursement === undefined) {
    const detail =
      'no carrier is configured: mobile money is unavailable, set for example MTN_MOMO_BASE_URL and its others';
    warnings.push({ about: 'carriers', detail });
  }
  return warnings;
}

function readMasterKeys(env: EnvironmentReader, mode: GatewayMode): readonly string[] {
  const value = env.text('MASTER_KEY');
  const example = 'MASTER_KEY="$(openssl rand -base64 32)"';
  if (value === undefined) {
    if (mode === 'production') env.problem('MASTER_KEY', `is missing: production needs one, for example ${example}`);
    return [];
  }
  const keys = value.split(',').map((key) => key.trim());
  if (keys.every((key) => parseMasterKey(key) !== undefined)) return keys;
  env.problem('MASTER_KEY', `must be 32 bytes in base64 (older keys after a comma), for example ${example}`);
  return [];
}

type CredentialName = keyof typeof SANDBOX;

/** A variable's name, and its value where it has one. */
interface Named {
  readonly name: string;
  readonly value: string | undefined;
}

/** A credential: the sandbox's own where none is set, and never that in production. */
function readCredential(env: EnvironmentReader, name: CredentialName, mode: GatewayMode): Named {
  const value = env.text(name);
  if (mode === 'sandbox') return { name, value: value ?? SANDBOX[name] };
  if (value === SANDBOX[name]) {
    env.problem(name, `is the sandbox's, which everybody knows: production needs your own, for example ${name}=…`);
  }
  return { name, value };
}

function readTraces(env: EnvironmentReader): TracesConfig | undefined {
  const endpoint = env.url('OTEL_EXPORTER_OTLP_ENDPOINT', { example: 'http://127.0.0.1:4318', https: false });
  const share = env.decimal('OTEL_TRACES_SAMPLER_ARG', 1);
  if (share > 1) {
    const example = 'OTEL_TRACES_SAMPLER_ARG=0.1';
    env.problem('OTEL_TRACES_SAMPLER_ARG', `is a share: it must be between 0 and 1, for example ${example}`);
  }
  return endpoint === undefined
    ? undefined
    : { endpoint, serviceName: env.text('OTEL_SERVICE_NAME') ?? 'mbongo', share };
}

function readFilePath(env: EnvironmentReader, name: string, example: string): string | undefined {
  const value = env.text(name);
  if (value === undefined) return undefined;
  const path = resolve(value);
  try {
    accessSync(path, constants.R_OK);
  } catch {
    env.problem(name, `names a file that cannot be read: ${JSON.stringify(path)}, for example ${name}=${example}`);
  }
  return path;
}

/** The variables of each product of MTN's. */
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
function readMtnMomo(
  env: EnvironmentReader,
  mode: GatewayMode,
  sandboxPort: number,
): Pick<Config, 'mtnMomo' | 'mtnMomoDisbursement'> {
  const https = mode === 'production' ? 'unless-local' : false;
  const baseUrl = upstreamUrl(env, 'MTN_MOMO_BASE_URL', mode, {
    sandbox: `http://127.0.0.1:${sandboxPort}/mtn`,
    example: 'https://proxy.momoapi.mtn.com',
  });
  const targetEnvironment = readCredential(env, 'MTN_MOMO_TARGET_ENVIRONMENT', mode);
  const callbackHost = env.url('MTN_MOMO_CALLBACK_HOST', { example: 'https://callbacks.example.com', https });
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
  // What both share does not say which product is meant: unless its own is set, it is collections.
  const isSet = (own: object) => Object.values(own).some((name: string) => env.text(name) !== undefined);
  const paysOut = mode === 'sandbox' || isSet(DISBURSEMENT);
  const collects = mode === 'sandbox' || !paysOut || isSet(COLLECTION);
  return {
    ...present('mtnMomo', collects ? read(COLLECTION) : undefined),
    ...present('mtnMomoDisbursement', paysOut ? read(DISBURSEMENT) : undefined),
  };
}

/** Their versions 57 to 100 are spoken; before 72 an answer has other names for what is read here. */
const CARDNET_VERSIONS = { from: 72, to: 100 } as const;

function readCardnet(env: EnvironmentReader, mode: GatewayMode, sandboxPort: number): CardnetConfig | undefined {
  const https = mode === 'production' ? 'unless-local' : false;
  const block = readBlock(env, {
    baseUrl: upstreamUrl(env, 'CARDNET_BASE_URL', mode, {
      sandbox: `http://127.0.0.1:${sandboxPort}/cardnet`,
      example: 'https://ap-gateway.mastercard.com',
    }),
    merchantId: readCredential(env, 'CARDNET_MERCHANT_ID', mode),
    apiPassword: readCredential(env, 'CARDNET_API_PASSWORD', mode),
  });
  const apiVersion = env.whole('CARDNET_API_VERSION', CARDNET_VERSIONS, CARDNET_VERSIONS.to);
  const formUrl = env.url('CARDNET_FORM_URL', { example: 'https://ap-gateway.mastercard.com', https });
  const currencies = readCurrencies(env, 'CARDNET_CURRENCIES');
  if (block === undefined) return undefined;
  // The sandbox's own form lies on another origin than its API, as the real one lies on another than the gateway's pages.
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
  env.problem(name, `holds a currency that is not served: there are ${served}, for example ${name}=usd,cdf`);
  return undefined;
}

function readSms(env: EnvironmentReader, mode: GatewayMode, sandboxPort: number): SmsConfig | undefined {
  return readBlock(env, {
    url: upstreamUrl(env, 'SMS_URL', mode, {
      sandbox: `http://127.0.0.1:${sandboxPort}/sms`,
      example: 'https://sms.example.com/send',
    }),
    token: readCredential(env, 'SMS_TOKEN', mode),
  });
}

/** An upstream's address: credentials travel to it, so that production takes http only on this machine itself. */
function upstreamUrl(
  env: EnvironmentReader,
  name: string,
  mode: GatewayMode,
  address: { readonly sandbox: string; readonly example: string },
): Named {
  const https = mode === 'production' ? 'unless-local' : false;
  const url = env.url(name, { example: address.example, https });
  return { name, value: url ?? (mode === 'sandbox' ? address.sandbox : undefined) };
}

/** A block that is set as a whole. None of it: undefined, the upstream is off. Some of it: the first one missing is named. */
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

/** A property that stands only where there is a value. */
function present<K extends string, V>(key: K, value: V | undefined): { [name in K]?: V } {
  return value === undefined ? {} : ({ [key]: value } as { [name in K]: V });
}

function freeze(config: Config): Config {
  for (const value of Object.values(config)) Object.freeze(value);
  return Object.freeze(config);
}
