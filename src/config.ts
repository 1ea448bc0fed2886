/**
 * The environment, as one validated and frozen object (contract §10).
 *
 * Invariant: a value in this object is usable as it is; a bad one stops the start with one line that names it, and production
 * never starts with the sandbox's publicly known credentials, without a master key, or with a PUBLIC_URL that is plain http.
 */
import { accessSync, constants } from 'node:fs';
import { join, resolve } from 'node:path';
import {
  type CardnetConfig,
  type CarriersConfig,
  type GatewayMode,
  hasCarrier,
  present,
  readCardnet,
  readCarriers,
  readCredential,
  readSms,
  type SmsConfig,
} from './config-upstreams.ts';
import { type Environment, type EnvironmentReader, readEnvironment } from './platform/environment.ts';
import { parseMasterKey } from './platform/keyring.ts';
import type { LogLevel } from './platform/log.ts';

/** OpenTelemetry's own variables; the others that the exporter reads are listed in docs/operating.md. */
export interface TracesConfig {
  /** `OTEL_EXPORTER_OTLP_ENDPOINT`: a collector that speaks OTLP over HTTP, without a slash at the end. */
  readonly endpoint: string;
  /** `OTEL_SERVICE_NAME`. */
  readonly serviceName: string;
  /** `OTEL_TRACES_SAMPLER_ARG`: the share of transactions that is recorded, 0 to 1. */
  readonly share: number;
}

const DEFAULT_DATA_DIR = '.data';
/** The file in the data folder that holds the demo merchant's credential. */
export const DEMO_FILE = 'demo.json';

/** The settings of the gateway by the variables that set them (contract §10), each checked, with its default where it has one. */
export interface Config extends CarriersConfig {
  /** `GATEWAY_MODE`. */
  readonly mode: GatewayMode;
  /** `DATABASE_URL`; absent: the embedded database under `dataDir`. Holds a password. */
  readonly databaseUrl?: string;
  /** `DATA_DIR`, made absolute. */
  readonly dataDir: string;
  /** Where a sandbox stores its demo merchant's credential: in `DATA_DIR` as it was given, so perhaps a relative path. */
  readonly demoFile: string;
  /** `HOST`: the one address to listen on, or a name for it. */
  readonly host: string;
  /** `PORT`; 0 takes any free one. */
  readonly port: number;
  /** `SANDBOX_PORT`: where the sandbox networks listen. */
  readonly sandboxPort: number;
  /** `WORKER_PORT`: where a process of the role worker serves its health and metrics; absent: nowhere. */
  readonly workerPort?: number;
  /** `DRAIN_MS`: milliseconds for which a stopping process reports that it is not ready before it stops accepting requests. */
  readonly drainMs: number;
  /** `PUBLIC_URL`: how the world reaches this gateway, without a path or a slash at the end; absent: where it listens. */
  readonly publicUrl: string;
  /** `MASTER_KEY`: base64, 32 bytes each, the active one first. Empty only in sandbox mode, where one is made (master-key.ts). */
  readonly masterKeys: readonly string[];
  /** `CARDNET_CALLBACK_SECRET`: shared with the card network. Absent: its callbacks are refused. */
  readonly cardnetCallbackSecret?: string;
  /** Where traces go; absent: nothing is recorded. */
  readonly traces?: TracesConfig;
  /** `LOG_LEVEL`. */
  readonly logLevel: LogLevel;
  /** `RATE_LIMIT_SCALE`: multiplies the traffic limits; 0 switches them off. */
  readonly rateLimitScale: number;
  /** `FAILED_AUTHENTICATIONS`: how many wrong credentials an address may present per minute, to each process. */
  readonly failedAuthentications: number;
  /** `CODES_PER_HOUR`: how many one-time codes are sent for one account in an hour, by all processes; 0: any number. */
  readonly codesPerHour: number;
  /** `TRUST_PROXY`: addresses and networks whose X-Forwarded-For is trusted. */
  readonly trustProxy: readonly string[];
  /** `RECEIVER_NETWORKS`: where merchants' receivers may be besides public addresses and this machine; in sandbox mode alone. */
  readonly receiverNetworks: readonly string[];
  /** `CARRIER_ROUTES`: an absolute path of a JSON file of number routes; absent: the routes of the mode. */
  readonly carrierRoutes?: string;
  /** Absent in production when none of its variables is set: cards are off. */
  readonly cardnet?: CardnetConfig;
  /** Absent in production when none of its variables is set: no text can be sent. */
  readonly sms?: SmsConfig;
}

/** Something an operator should look at, but that does not stop the start. The detail is one line and shows no secret. */
export interface Warning {
  readonly about: 'public_url' | 'texts' | 'carriers';
  readonly detail: string;
}

/** The environment cannot be used. The message is one line, names the variables and shows no secret. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** Where the database is: all that `mbongo migrate` needs to know. */
export type DatabaseConfig = Pick<Config, 'databaseUrl' | 'dataDir'>;

const PUBLIC_URL_EXAMPLE = 'https://pay.example.com';

/**
 * Reads the configuration.
 *
 * @throws ConfigError, one line for all problems.
 */
export function readConfig(environment: Environment): Config {
  const env = readEnvironment(environment);
  const mode = readMode(env);
  const port = env.whole('PORT', { from: 0, to: 65_535 }, 8080);
  const host = readHost(env);
  const sandboxPort = env.whole('SANDBOX_PORT', { from: 1, to: 65_535 }, 8090);
  if (mode === 'sandbox' && port === sandboxPort) {
    env.problem(
      'SANDBOX_PORT',
      `is the same as PORT: each needs a port of its own, for example SANDBOX_PORT=${port === 8090 ? 8091 : 8090}`,
    );
  }
  const config = {
    mode,
    ...readDatabase(env, mode, environment),
    demoFile: join(env.text('DATA_DIR') ?? DEFAULT_DATA_DIR, DEMO_FILE),
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
    failedAuthentications: env.whole('FAILED_AUTHENTICATIONS', { from: 1, to: 1_000 }, 20),
    codesPerHour: env.whole('CODES_PER_HOUR', { from: 0, to: 10_000 }, mode === 'production' ? 60 : 0),
    trustProxy: env.networks('TRUST_PROXY'),
    receiverNetworks: readReceiverNetworks(env, mode),
    ...present('carrierRoutes', readFilePath(env, 'CARRIER_ROUTES', './carrier-routes.json')),
    ...readCarriers(env, mode, sandboxPort),
    ...present('cardnet', readCardnet(env, mode, sandboxPort)),
    ...present('sms', readSms(env, mode, sandboxPort)),
  };
  return checked(env, config);
}

/**
 * Reads where the database is, and nothing else: what migrates a production's database needs no secret but its address.
 *
 * @throws ConfigError, one line for all problems.
 */
export function readDatabaseConfig(environment: Environment): DatabaseConfig {
  const env = readEnvironment(environment);
  return checked(env, readDatabase(env, readMode(env), environment));
}

/** @throws ConfigError if the reader has found a problem. */
function checked<C extends object>(env: EnvironmentReader, config: C): C {
  const problems = env.problems();
  if (problems !== undefined) throw new ConfigError(problems);
  return freeze(config);
}

function readMode(env: EnvironmentReader): GatewayMode {
  return env.word<GatewayMode>('GATEWAY_MODE', ['sandbox', 'production'], 'sandbox');
}

function readDatabase(env: EnvironmentReader, mode: GatewayMode, environment: Environment): DatabaseConfig {
  return {
    ...present('databaseUrl', readDatabaseUrl(env, mode, environment.DATABASE_URL)),
    dataDir: resolve(env.text('DATA_DIR') ?? DEFAULT_DATA_DIR),
  };
}

/**
 * Refuses to run a single role in production without a database that the processes of other roles share.
 *
 * @throws ConfigError.
 */
export function requireSharedDatabase({ mode, databaseUrl }: Config, role: string): void {
  if (mode !== 'production' || databaseUrl !== undefined || role === 'all') return;
  throw new ConfigError(
    `DATABASE_URL is not set: --role ${role} needs the database that the other processes use; without one, serve with --role all`,
  );
}

/** Money's own webhooks go to public addresses alone (contract §6). */
function readReceiverNetworks(env: EnvironmentReader, mode: GatewayMode): readonly string[] {
  const networks = env.networks('RECEIVER_NETWORKS');
  if (mode === 'production' && networks.length > 0) {
    env.problem(
      'RECEIVER_NETWORKS',
      'is for sandbox mode only: in production webhooks go to public addresses alone, so unset it',
    );
  }
  return networks;
}

/** One address: for the name `localhost` the framework would open a second server, to which our limits do not apply. */
function readHost(env: EnvironmentReader): string {
  const host = env.text('HOST') ?? '127.0.0.1';
  return host === 'localhost' ? '127.0.0.1' : host;
}

/** Match a comma among the hosts, in either place where an address may name them, but not one in a password. */
const SEVERAL_HOSTS = [/^postgres(ql)?:\/\/(?:[^/?]*@)?[^@/?]*,[^@/?]*(?:[/?]|$)/, /[?&]host=[^&]*(?:,|%2c)/i];

/** `given`: the variable as it is, which may be empty. */
function readDatabaseUrl(env: EnvironmentReader, mode: GatewayMode, given: string | undefined): string | undefined {
  const value = env.text('DATABASE_URL');
  // A secret or a file that was left empty: payments would go to a new database, which may vanish with its container.
  if (value === undefined && given !== undefined && mode === 'production') {
    env.problem('DATABASE_URL', 'is empty: set it, or unset it for an embedded database in DATA_DIR');
  }
  // Not parsed: the driver reports any other fault, without the password.
  if (value !== undefined && SEVERAL_HOSTS.some((form) => form.test(value))) {
    const one = 'name one that always leads to the primary: a DNS name, a virtual address or a pooler';
    env.problem('DATABASE_URL', `names several hosts, but only one can be used: ${one}`);
    return undefined;
  }
  if (value === undefined || /^postgres(ql)?:\/\/\S+$/.test(value)) return value;
  const example = 'postgresql://mbongo:PASSWORD@127.0.0.1:5432/mbongo';
  const rule = 'it must begin with postgresql:// and contain no blanks';
  env.problem('DATABASE_URL', `cannot be used: ${rule}, for example DATABASE_URL=${example}`);
  return undefined;
}

function readPublicUrl(env: EnvironmentReader, mode: GatewayMode): string | undefined {
  const noPath = 'the links of the hosted page begin at the root of its host';
  return env.url('PUBLIC_URL', { example: PUBLIC_URL_EXAMPLE, https: mode === 'production', noPath });
}

function readWorkerPort(env: EnvironmentReader): number | undefined {
  return env.text('WORKER_PORT') === undefined ? undefined : env.whole('WORKER_PORT', { from: 0, to: 65_535 }, 9464);
}

/** Where we listen, as an address that can be called: a wildcard address becomes this machine's loopback address. */
export function listenUrl(host: string, port: number): string {
  if (host === '0.0.0.0' || host === '::') return `http://127.0.0.1:${port}`;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Settings that work but are hardly intended: one line each, for the start and for `doctor`. */
export function warningsOf(config: Config): readonly Warning[] {
  const { mode, publicUrl, sms } = config;
  const warnings: Warning[] = [];
  // In production a PUBLIC_URL that is set must be https: this is the default, the listening address.
  if (mode === 'production' && publicUrl.startsWith('http:')) {
    const example = `for example PUBLIC_URL=${PUBLIC_URL_EXAMPLE}`;
    const detail = `PUBLIC_URL is not set: callers and upstreams get ${publicUrl}, which they cannot reach: set it, ${example}`;
    warnings.push({ about: 'public_url', detail });
  }
  if (sms === undefined) {
    const detail =
      'SMS_URL is not set: no one-time code can be sent, so wallet payments above the threshold cannot be made';
    warnings.push({ about: 'texts', detail });
  }
  if (!hasCarrier(config)) {
    const detail =
      'no carrier is configured: mobile money is unavailable; for MTN, set MTN_MOMO_BASE_URL and the other MTN_MOMO_ variables';
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
  if (mode === 'production' && keys.some(isAllZeros)) {
    env.problem(
      'MASTER_KEY',
      `contains a key that is all zeros, which anybody can guess: generate one, for example ${example}`,
    );
    return [];
  }
  if (keys.every((key) => parseMasterKey(key) !== undefined)) return keys;
  env.problem('MASTER_KEY', `must be 32 bytes in base64 (older keys after a comma), for example ${example}`);
  return [];
}

function isAllZeros(key: string): boolean {
  return parseMasterKey(key)?.every((byte) => byte === 0) === true;
}

function readTraces(env: EnvironmentReader): TracesConfig | undefined {
  const endpoint = env.url('OTEL_EXPORTER_OTLP_ENDPOINT', { example: 'http://127.0.0.1:4318', https: false });
  const share = env.decimal('OTEL_TRACES_SAMPLER_ARG', 1);
  if (share > 1) {
    const example = 'OTEL_TRACES_SAMPLER_ARG=0.1';
    env.problem('OTEL_TRACES_SAMPLER_ARG', `is a share: it must be between 0 and 1, for example ${example}`);
  }
  if (endpoint === undefined) return undefined;
  checkExporter(env);
  return { endpoint, serviceName: env.text('OTEL_SERVICE_NAME') ?? 'mbongo', share };
}

/** 1 h in milliseconds, and a million spans: more must be a typing error. */
const MAX_EXPORTER = { ms: 3_600_000, spans: 1_000_000 };

/**
 * Checks the variables that the exporter reads itself. It passes over what it cannot read without a word, exports nothing with
 * some values, and with batches of 0 spans it never ends.
 */
function checkExporter(env: EnvironmentReader): void {
  const milliseconds = { from: 1, to: MAX_EXPORTER.ms };
  env.whole('OTEL_EXPORTER_OTLP_TIMEOUT', milliseconds, 10_000);
  env.whole('OTEL_BSP_SCHEDULE_DELAY', milliseconds, 5_000);
  env.whole('OTEL_BSP_EXPORT_TIMEOUT', milliseconds, 30_000);
  const spans = { from: 1, to: MAX_EXPORTER.spans };
  env.whole('OTEL_BSP_MAX_QUEUE_SIZE', spans, 2_048);
  env.whole('OTEL_BSP_MAX_EXPORT_BATCH_SIZE', spans, 512);
  env.word('OTEL_EXPORTER_OTLP_COMPRESSION', ['none', 'gzip'], 'none');
  const name = 'OTEL_EXPORTER_OTLP_HEADERS';
  const headers = (env.text(name) ?? '').split(',').filter((header) => header.trim() !== '');
  if (headers.every(isHeader)) return;
  const rule = 'must be names and values, percent-encoded, with = between the two and commas between the pairs';
  env.problem(name, `${rule}, for example ${name}=authorization=Bearer%20KEY`);
}

/** Whether a text is an HTTP header as OpenTelemetry writes it: a name, `=`, and a percent-encoded value of visible ASCII and blanks. */
function isHeader(text: string): boolean {
  const [, name = '', value = ''] = /^([^=]*)=(.*)$/.exec(text.trim()) ?? [];
  try {
    const isName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(decodeURIComponent(name.trim()));
    return isName && /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(decodeURIComponent(value.trim()));
  } catch {
    return false;
  }
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

function freeze<C extends object>(config: C): C {
  for (const value of Object.values(config)) Object.freeze(value);
  return Object.freeze(config);
}
