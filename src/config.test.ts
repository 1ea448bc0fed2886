/** The environment becomes a complete, frozen configuration, or one line that names what is wrong. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { DISBURSEMENT, KEY, MTN, PRODUCTION, problemOf } from '../test/support/environments.ts';
import { readConfig, readDatabaseConfig, warningsOf } from './config.ts';
import type { Environment } from './platform/environment.ts';

const OLDER = Buffer.alloc(32, 8).toString('base64');

test('traces are exported only if a collector is named', () => {
  const endpoint = 'http://127.0.0.1:4318';
  expect(readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: `${endpoint}/` }).traces).toEqual({
    endpoint,
    serviceName: 'mbongo',
    share: 1,
  });
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_SERVICE_NAME: 'pay', OTEL_TRACES_SAMPLER_ARG: '0.25' };
  expect(readConfig(env).traces).toEqual({ endpoint, serviceName: 'pay', share: 0.25 });
});

test('where the database is can be read without any other secret', () => {
  const databaseUrl = 'postgresql://owner@db.example/mbongo';
  const env = { GATEWAY_MODE: 'production', DATABASE_URL: databaseUrl };
  expect(() => readConfig(env)).toThrow('MASTER_KEY is missing');
  expect(readDatabaseConfig(env)).toEqual({ databaseUrl, dataDir: resolve('.data') });
  expect(() => readDatabaseConfig({ ...env, DATABASE_URL: '' })).toThrow(/^DATABASE_URL is empty: /);
});

test('an empty environment is a working sandbox', () => {
  expect(readConfig({})).toEqual({
    mode: 'sandbox',
    dataDir: resolve('.data'),
    demoFile: '.data/demo.json',
    host: '127.0.0.1',
    port: 8080,
    sandboxPort: 8090,
    drainMs: 0,
    publicUrl: 'http://127.0.0.1:8080',
    masterKeys: [],
    cardnetCallbackSecret: 'sandbox-cardnet-callback-secret',
    logLevel: 'info',
    rateLimitScale: 1,
    failedAuthentications: 20,
    codesPerHour: 0,
    trustProxy: [],
    receiverNetworks: [],
    mtnMomo: {
      baseUrl: 'http://127.0.0.1:8090/mtn',
      subscriptionKey: 'sandbox-collection',
      apiUser: '5ba0d1c4-5f0e-4b3a-9d6e-7f0a1c2b3d4e',
      apiKey: 'sandbox-api-key',
      targetEnvironment: 'sandbox',
    },
    mtnMomoDisbursement: {
      baseUrl: 'http://127.0.0.1:8090/mtn',
      subscriptionKey: 'sandbox-disbursement',
      apiUser: '8c1e7f52-3b9d-4c60-a1f7-2d4e6b8a0c93',
      apiKey: 'sandbox-disbursement-api-key',
      targetEnvironment: 'sandbox',
    },
    cardnet: {
      baseUrl: 'http://127.0.0.1:8090/cardnet',
      merchantId: 'TESTMBONGO',
      apiPassword: 'sandbox-cardnet-password',
      apiVersion: 100,
      formUrl: 'http://localhost:8090/cardnet',
    },
    sms: { url: 'http://127.0.0.1:8090/sms', token: 'sandbox-sms' },
  });
});

test('the sandbox’s addresses follow its port, and empty variables count as absent', () => {
  const config = readConfig({ SANDBOX_PORT: '9001', PORT: ' ', HOST: '' });
  expect(config).toMatchObject({ port: 8080, host: '127.0.0.1', publicUrl: 'http://127.0.0.1:8080' });
  expect(config.mtnMomo?.baseUrl).toBe('http://127.0.0.1:9001/mtn');
  expect(config.sms?.url).toBe('http://127.0.0.1:9001/sms');
});

test.each([
  'postgresql://u:p,w@db.example:5432/mbongo',
  'postgresql://u,v:p@db.example',
  'postgresql://u:p@db.example/mbongo?options=a,b',
])('%s names one host', (DATABASE_URL) => {
  expect(readConfig({ DATABASE_URL }).databaseUrl).toBe(DATABASE_URL);
});

test('everything that is set is read', () => {
  const folder = mkdtempSync(join(tmpdir(), 'mbongo-config-'));
  const routes = join(folder, 'routes.json');
  writeFileSync(routes, '{}');
  const config = readConfig({
    ...PRODUCTION,
    ...MTN,
    ...DISBURSEMENT,
    PUBLIC_URL: 'https://pay.example.com/',
    MTN_MOMO_CALLBACK_HOST: 'https://callbacks.example.com',
    MASTER_KEY: `${KEY}, ${OLDER}`,
    DATABASE_URL: 'postgresql://u:p@a:5432/mbongo?sslmode=verify-full',
    DATA_DIR: '/var/lib/mbongo',
    CARRIER_ROUTES: routes,
    CARDNET_CALLBACK_SECRET: 'ours and of the network alone',
    CARDNET_BASE_URL: 'https://ap-gateway.mastercard.com/',
    CARDNET_MERCHANT_ID: 'MBONGO1',
    CARDNET_API_PASSWORD: 'ours',
    CARDNET_API_VERSION: '81',
    CARDNET_CURRENCIES: 'usd, CDF',
    LOG_LEVEL: 'debug',
    RATE_LIMIT_SCALE: '0.5',
    FAILED_AUTHENTICATIONS: '5',
    CODES_PER_HOUR: '30',
    TRUST_PROXY: '10.0.0.0/8, ::1,192.0.2.7',
    SMS_URL: 'http://127.0.0.1:7000/sms',
    SMS_TOKEN: 'ours',
    WORKER_PORT: '9464',
    DRAIN_MS: '5000',
  });
  rmSync(folder, { recursive: true });
  expect(config).toEqual({
    mode: 'production',
    databaseUrl: 'postgresql://u:p@a:5432/mbongo?sslmode=verify-full',
    dataDir: '/var/lib/mbongo',
    demoFile: '/var/lib/mbongo/demo.json',
    host: '127.0.0.1',
    port: 8080,
    sandboxPort: 8090,
    workerPort: 9464,
    drainMs: 5_000,
    publicUrl: 'https://pay.example.com',
    masterKeys: [KEY, OLDER],
    cardnetCallbackSecret: 'ours and of the network alone',
    logLevel: 'debug',
    rateLimitScale: 0.5,
    failedAuthentications: 5,
    codesPerHour: 30,
    trustProxy: ['10.0.0.0/8', '::1', '192.0.2.7'],
    receiverNetworks: [],
    carrierRoutes: routes,
    mtnMomo: {
      baseUrl: 'https://proxy.momoapi.mtn.com',
      subscriptionKey: 'a',
      apiUser: 'b',
      apiKey: 'c',
      targetEnvironment: 'mtncongo',
      callbackHost: 'https://callbacks.example.com',
    },
    mtnMomoDisbursement: {
      baseUrl: 'https://proxy.momoapi.mtn.com',
      subscriptionKey: 'd',
      apiUser: 'e',
      apiKey: 'f',
      targetEnvironment: 'mtncongo',
      callbackHost: 'https://callbacks.example.com',
    },
    cardnet: {
      baseUrl: 'https://ap-gateway.mastercard.com',
      merchantId: 'MBONGO1',
      apiPassword: 'ours',
      apiVersion: 81,
      formUrl: 'https://ap-gateway.mastercard.com',
      currencies: ['usd', 'cdf'],
    },
    sms: { url: 'http://127.0.0.1:7000/sms', token: 'ours' },
  });
});

test('the configuration cannot be changed, nor can anything in it', () => {
  const config = readConfig({ TRUST_PROXY: '10.0.0.1' });
  for (const part of [config, config.mtnMomo, config.sms, config.trustProxy, config.masterKeys]) {
    expect(Object.isFrozen(part)).toBe(true);
  }
});

describe('a bad value is reported in one line with an example', () => {
  test.each<[string, Environment, string]>([
    [
      'mode',
      { GATEWAY_MODE: 'prod' },
      'GATEWAY_MODE is "prod": it must be one of sandbox, production, for example GATEWAY_MODE=sandbox',
    ],
    ['port', { PORT: '80a' }, 'PORT is "80a": it must be a whole number from 0 to 65535, for example PORT=8080'],
    ['large port', { PORT: '65536' }, 'PORT is "65536"'],
    ['negative port', { SANDBOX_PORT: '-1' }, 'SANDBOX_PORT is "-1"'],
    ['zero sandbox port', { SANDBOX_PORT: '0' }, 'SANDBOX_PORT is "0": it must be a whole number from 1 to'],
    ['same ports', { PORT: '8090' }, 'SANDBOX_PORT is the same as PORT'],
    ['level', { LOG_LEVEL: 'loud' }, 'LOG_LEVEL is "loud"'],
    ['collector', { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector' }, 'OTEL_EXPORTER_OTLP_ENDPOINT'],
    ['share', { OTEL_TRACES_SAMPLER_ARG: '10' }, 'OTEL_TRACES_SAMPLER_ARG is a share: it must be between 0 and 1'],
    ['scale', { RATE_LIMIT_SCALE: '1e3' }, 'RATE_LIMIT_SCALE is "1e3": it must be a number from 0 up'],
    ['no wrong credential', { FAILED_AUTHENTICATIONS: '0' }, 'FAILED_AUTHENTICATIONS is "0"'],
    ['negative scale', { RATE_LIMIT_SCALE: '-1' }, 'RATE_LIMIT_SCALE is "-1"'],
    ['proxy', { TRUST_PROXY: '10.0.0.1,all' }, 'TRUST_PROXY contains "all": it must list IP addresses or networks'],
    ['receivers', { RECEIVER_NETWORKS: 'shop' }, 'RECEIVER_NETWORKS contains "shop"'],
    [
      'receivers of real money',
      { ...PRODUCTION, RECEIVER_NETWORKS: '10.0.0.0/8' },
      'RECEIVER_NETWORKS is for sandbox mode only: in production webhooks go to public addresses alone, so unset it',
    ],
    ['proxy network', { TRUST_PROXY: '10.0.0.0/33' }, 'TRUST_PROXY contains "10.0.0.0/33"'],
    [
      'public URL',
      { PUBLIC_URL: 'pay.example.com' },
      'PUBLIC_URL is not an address, for example PUBLIC_URL=https://pay.example.com',
    ],
    ['public scheme', { PUBLIC_URL: 'ftp://x' }, 'PUBLIC_URL must begin with https:// or http://'],
    ['public query', { PUBLIC_URL: 'https://x/?a=1' }, 'PUBLIC_URL must not have a query or a fragment'],
    [
      'public path',
      { ...PRODUCTION, PUBLIC_URL: 'https://example.com/pay/' },
      'PUBLIC_URL must not have a path, because the links of the hosted page begin at the root of its host, for example',
    ],
    [
      'routes',
      { CARRIER_ROUTES: '/no/such/file.json' },
      'CARRIER_ROUTES names a file that cannot be read: "/no/such/file.json"',
    ],
    ['missing key', { ...PRODUCTION, MASTER_KEY: undefined }, 'MASTER_KEY is missing: production needs one'],
    [
      'several hosts',
      { DATABASE_URL: 'postgresql://u:p@a:5432,b:5433/mbongo' },
      'DATABASE_URL names several hosts, but only one can be used',
    ],
    [
      'several hosts in a parameter',
      { DATABASE_URL: 'postgresql://u:p@a/mbongo?sslmode=require&host=a%2Cb' },
      'DATABASE_URL names several hosts, but only one can be used',
    ],
    [
      'key of zeros',
      { ...PRODUCTION, MASTER_KEY: `${KEY},${Buffer.alloc(32).toString('base64')}` },
      'MASTER_KEY contains a key that is all zeros, which anybody can guess: generate one',
    ],
    [
      'secret that can be tried out',
      { ...PRODUCTION, CARDNET_CALLBACK_SECRET: 'x' },
      'CARDNET_CALLBACK_SECRET authenticates callbacks about payments: it must have at least 16 characters',
    ],
    [
      'empty database in production',
      { ...PRODUCTION, DATABASE_URL: ' ' },
      'DATABASE_URL is empty: set it, or unset it for an embedded database in DATA_DIR',
    ],
    [
      'database',
      { DATABASE_URL: 'mysql://127.0.0.1/x' },
      'DATABASE_URL cannot be used: it must begin with postgresql:// and contain no blanks',
    ],
    [
      'plain URL',
      { ...PRODUCTION, PUBLIC_URL: 'http://pay.example.com' },
      'PUBLIC_URL must begin with https:// in production',
    ],
    [
      'plain local URL',
      { ...PRODUCTION, PUBLIC_URL: 'http://127.0.0.1:8080' },
      'PUBLIC_URL must begin with https:// in production',
    ],
    [
      'half a connector',
      { ...PRODUCTION, ...MTN, MTN_MOMO_API_KEY: '' },
      'MTN_MOMO_API_KEY is missing, while MTN_MOMO_BASE_URL',
    ],
    [
      'half of a product',
      { ...PRODUCTION, ...MTN, MTN_MOMO_DISBURSEMENT_API_KEY: 'f' },
      'MTN_MOMO_DISBURSEMENT_SUBSCRIPTION_KEY is missing, while MTN_MOMO_BASE_URL',
    ],
    [
      'a product without its address',
      { ...PRODUCTION, ...DISBURSEMENT },
      'MTN_MOMO_BASE_URL is missing, while MTN_MOMO_DISBURSEMENT_SUBSCRIPTION_KEY',
    ],
    [
      'an address without a product',
      { ...PRODUCTION, MTN_MOMO_BASE_URL: 'https://proxy.momoapi.mtn.com' },
      'MTN_MOMO_SUBSCRIPTION_KEY is missing, while MTN_MOMO_BASE_URL',
    ],
    [
      'plain upstream',
      { ...PRODUCTION, ...MTN, MTN_MOMO_BASE_URL: 'http://mtn.example.com' },
      'MTN_MOMO_BASE_URL must begin with https:// in production',
    ],
    [
      'a name that begins as an address of this machine',
      { ...PRODUCTION, ...MTN, MTN_MOMO_BASE_URL: 'http://127.mtn.example.com' },
      'MTN_MOMO_BASE_URL must begin with https:// in production',
    ],
    [
      'half a text door',
      { ...PRODUCTION, SMS_URL: 'https://sms.example.com' },
      'SMS_TOKEN is missing, while SMS_URL is set',
    ],
  ])('%s', (_, environment, expected) => {
    const problem = problemOf(environment);
    expect(problem).toContain(expected);
    expect(problem).not.toContain('\n');
  });

  test('several problems are reported on one line in the order of their names', () => {
    const problem = problemOf({ PORT: 'a\nb', LOG_LEVEL: 'x', GATEWAY_MODE: 'y' });
    expect(problem.split('; ').map((part) => part.split(' ')[0])).toEqual(['GATEWAY_MODE', 'LOG_LEVEL', 'PORT']);
    expect(problem).not.toContain('\n');
  });

  test('no secret is echoed', () => {
    const problem = problemOf({
      MASTER_KEY: 'hunter-master',
      DATABASE_URL: 'mysql://root:hunter-db@x/y',
      PUBLIC_URL: 'https://user:hunter-url@pay.example.com',
      SMS_URL: 'nonsense hunter-sms',
    });
    for (const name of ['MASTER_KEY', 'DATABASE_URL', 'PUBLIC_URL', 'SMS_URL']) expect(problem).toContain(name);
    expect(problem).not.toContain('hunter');
  });
});

test('production starts with its key alone, is told its addresses, and gets warnings', () => {
  const config = readConfig({ GATEWAY_MODE: 'production', MASTER_KEY: KEY });
  expect(config.publicUrl).toBe('http://127.0.0.1:8080');
  expect(warningsOf(config).map(({ about, detail }) => [about, detail.split(' ')[0]])).toEqual([
    ['public_url', 'PUBLIC_URL'],
    ['texts', 'SMS_URL'],
    ['carriers', 'no'],
  ]);
  const whole = { ...PRODUCTION, ...MTN, SMS_URL: 'https://sms.example.com', SMS_TOKEN: 't' };
  for (const environment of [whole, {}]) expect(warningsOf(readConfig(environment))).toEqual([]);
});

test.each([
  ['192.0.2.7', 'http://192.0.2.7:8080'],
  ['0.0.0.0', 'http://127.0.0.1:8080'],
  ['::', 'http://127.0.0.1:8080'],
  ['2001:db8::7', 'http://[2001:db8::7]:8080'],
])('without PUBLIC_URL, HOST=%s is reached at %s', (HOST, url) => {
  expect(readConfig({ HOST }).publicUrl).toBe(url);
});

test('HOST=localhost is one address, not two', () => {
  expect(readConfig({ HOST: 'localhost' })).toMatchObject({ host: '127.0.0.1', publicUrl: 'http://127.0.0.1:8080' });
});

test('a sandbox may send webhooks to networks that it names', () => {
  expect(readConfig({ RECEIVER_NETWORKS: '172.16.0.0/12, ::1' }).receiverNetworks).toEqual(['172.16.0.0/12', '::1']);
});
