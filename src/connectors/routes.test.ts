import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { readConfig } from '../config.ts';
import { createOutbound } from '../platform/outbound.ts';
import { manualClock } from '../platform/testing/manual-clock.ts';
import { memoryLog } from '../platform/testing/memory-log.ts';
import { addressesOf, CONNECTORS, type ConnectorsConfig, openConnectors, SENDERS } from './registry.ts';
import { parseRoutes, routeFor } from './routes.ts';

const outbound = createOutbound({ allowLoopback: true, requireHttps: false });
const log = memoryLog();
const folder = mkdtempSync(join(tmpdir(), 'routes-'));
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await outbound.close();
});

const open = (config: ConnectorsConfig) => openConnectors(config, { outbound, log, clock: manualClock(0) });
const mtnMomo = {
  baseUrl: 'http://127.0.0.1:1',
  subscriptionKey: 'k',
  apiUser: 'u',
  apiKey: 'a',
  targetEnvironment: 'sandbox',
};
const sandbox = open({ mode: 'sandbox', mtnMomo });

const entry = { connector: 'mtn-momo', carrier: 'MTN MoMo', country: 'UG', prefixes: ['25677'], currencies: ['ugx'] };

describe('the sandbox', () => {
  test.each([
    ['+243810000042', 'usd', 'Vodacom M-Pesa'],
    ['+243810000042', 'cdf', 'Vodacom M-Pesa'],
    ['+243990000042', 'usd', 'Airtel Money'],
    ['+243890000042', 'cdf', 'Orange Money'],
    ['+243900000042', 'usd', 'Africell Money'],
    ['+243700000042', 'usd', 'Mobile Money'],
    ['+256770000042', 'ugx', 'MTN MoMo'],
    ['+233240000042', 'ghs', 'MTN MoMo'],
    ['+2250500000042', 'xof', 'MTN MoMo'],
    ['+221770000042', 'xof', 'Orange Money'],
    ['+2290197000042', 'xof', 'MTN MoMo'],
    ['+260960000042', 'zmw', 'MTN MoMo'],
    ['+237670000042', 'xaf', 'MTN MoMo'],
    ['+242060000042', 'xaf', 'MTN MoMo'],
    ['+250780000042', 'rwf', 'MTN MoMo'],
    ['+25779000042', 'bif', 'Mobile Money'],
    ['+254700000042', 'kes', 'M-Pesa'],
    ['+254750000042', 'kes', 'Airtel Money'],
    ['+255740000042', 'tzs', 'Vodacom M-Pesa'],
    ['+2348030000042', 'ngn', 'MTN MoMo'],
    ['+27830000042', 'zar', 'MTN MoMo'],
    ['+27110000042', 'zar', 'Mobile Money'],
  ] as const)('%s in %s is %s', (msisdn, currency, carrier) => {
    expect(sandbox.routeFor('payment', msisdn, currency)).toEqual({ kind: 'route', connector: 'mtn-momo', carrier });
  });

  test.each([
    ['usd', ['243']],
    ['cdf', ['243']],
    // All members of both monetary unions: their currency is legal tender in each.
    ['xof', ['221', '223', '225', '226', '227', '228', '229', '245']],
    ['xaf', ['235', '236', '237', '240', '241', '242']],
    ['kes', ['254']],
    ['ugx', ['256']],
    ['tzs', ['255']],
    ['zmw', ['260']],
    ['rwf', ['250']],
    ['bif', ['257']],
    ['ngn', ['234']],
    ['ghs', ['233']],
    ['zar', ['27']],
  ] as const)('reaches a number of every country of %s', (currency, callingCodes) => {
    const kinds = callingCodes.map((code) => [code, sandbox.routeFor('payment', `+${code}00000042`, currency).kind]);
    expect(kinds).toEqual(callingCodes.map((code) => [code, 'route']));
  });

  test('says which currencies a carrier takes', () => {
    expect(sandbox.routeFor('payment', '+243810000042', 'xof')).toEqual({
      kind: 'wrong_currency',
      carrier: 'Vodacom M-Pesa',
      currencies: ['usd', 'cdf'],
    });
  });

  test('says which carriers would take a currency', () => {
    const routing = sandbox.routeFor('payment', '+33612345678', 'ugx');
    if (routing.kind !== 'no_carrier') throw new Error(routing.kind);
    expect(new Set(routing.works.map(({ country }) => country))).toEqual(new Set(['UG']));
    expect(sandbox.routeFor('payment', '+33612345678', 'eur')).toEqual({ kind: 'no_carrier', works: [] });
  });
});

describe('the connectors that are configured', () => {
  test('are found by name', () => {
    expect(sandbox.names).toEqual(['mtn-momo']);
    expect(sandbox.collect('mtn-momo')?.displayName).toBe('MTN MoMo');
    expect(sandbox.collect('constructor')).toBeUndefined();
  });

  test('collect, pay out, or both', () => {
    const both = open({ mode: 'sandbox', mtnMomo, mtnMomoDisbursement: mtnMomo });
    expect(both.names).toEqual(['mtn-momo', 'mtn-momo-disbursement']);
    expect(both.payout('mtn-momo')?.name).toBe('mtn-momo-disbursement');
    expect(both.upstream('mtn-momo-disbursement')).toBe(both.payout('mtn-momo'));
    expect(both.upstream('mtn-momo')).toBe(both.collect('mtn-momo'));
    // What an attempt stores leads to the route on which its money goes back; what sent money leads to none.
    expect([both.routeOf('mtn-momo'), both.routeOf('mtn-momo-disbursement')]).toEqual(['mtn-momo', undefined]);
    expect([both.servesMobileMoney('usd'), both.servesPayouts('usd'), both.servesPayouts('eur')]).toEqual([
      true,
      true,
      false,
    ]);
    expect(sandbox.payout('mtn-momo')).toBeUndefined();
    expect(sandbox.servesPayouts('usd')).toBe(false);

    const sending = open({ mode: 'sandbox', mtnMomoDisbursement: mtnMomo });
    expect(sending.routeFor('payout', '+243810000042', 'usd').kind).toBe('route');
    expect(sending.routeFor('payment', '+243810000042', 'usd')).toEqual({ kind: 'no_carrier', works: [] });
    expect([sending.servesMobileMoney('usd'), sending.carriersFor('usd')]).toEqual([false, []]);
    expect(sending.servesPayouts('usd')).toBe(true);
  });

  test('that send money out are listed, each under its name in attempts and under its route', () => {
    // In a sandbox every upstream is configured.
    const config = readConfig({});
    const all = open(config);
    expect(CONNECTORS).toEqual(all.names);
    expect([...addressesOf(config).keys()]).toEqual(all.names);
    expect([...addressesOf({ mode: 'production', mtnMomo }).keys()]).toEqual(['mtn-momo']);
    const senders = all.all.filter((one) => 'payOut' in one || 'refund' in one).map(({ name }) => name);
    expect(SENDERS.map(({ connector }) => connector)).toEqual(senders);
    for (const { connector, route } of SENDERS) {
      expect((all.payout(route) ?? all.card)?.name).toBe(connector);
      if (all.payout(route) === undefined) expect(route).toBe(connector);
    }
  });

  test('serve only the numbers of their own market', () => {
    const uganda = open({ mode: 'production', mtnMomo: { ...mtnMomo, targetEnvironment: 'mtnuganda' } });
    expect(uganda.routeFor('payment', '+256770000042', 'ugx').kind).toBe('route');
    expect(uganda.routeFor('payment', '+233240000042', 'ghs')).toEqual({ kind: 'no_carrier', works: [] });
    expect(() => open({ mode: 'production', mtnMomo: { ...mtnMomo, targetEnvironment: 'mtnmars' } })).toThrow(
      'routes/production.json: no route leads to what is configured (mtn-momo for mtnmars)',
    );
  });

  test('collect from the numbers of one market, and pay out to those of another', () => {
    const two = open({
      mode: 'production',
      mtnMomo: { ...mtnMomo, targetEnvironment: 'mtnivorycoast' },
      mtnMomoDisbursement: { ...mtnMomo, targetEnvironment: 'mtnbenin' },
    });
    const [ivorian, beninese] = ['+2250500000042', '+2290197000042'];
    expect(two.routeFor('payment', ivorian, 'xof').kind).toBe('route');
    expect(two.routeFor('payout', beninese, 'xof').kind).toBe('route');
    expect(two.routeFor('payment', beninese, 'xof')).toMatchObject({ kind: 'no_carrier', works: [{ country: 'CI' }] });
    expect(two.routeFor('payout', ivorian, 'xof')).toMatchObject({ kind: 'no_carrier', works: [{ country: 'BJ' }] });
    expect(two.carriersFor('xof').map(({ country }) => country)).toEqual(['CI']);
    expect(two.reached.map(({ use, country }) => `${use} ${country}`)).toEqual(['payment CI', 'payout BJ']);
  });

  test('may be none: then no number is served and no text is sent', async () => {
    const none = open({ mode: 'production' });
    expect(none.names).toEqual([]);
    expect(none.routeFor('payment', '+256770000042', 'ugx')).toEqual({ kind: 'no_carrier', works: [] });
    expect(none.texts).toBeUndefined();
    expect(log.lines.join()).not.toContain('123456');
  });
});

describe('a file of routes', () => {
  const openFile = (content: string) => {
    const carrierRoutes = join(folder, 'routes.json');
    writeFileSync(carrierRoutes, content);
    return open({ mode: 'production', mtnMomo, carrierRoutes });
  };

  test('of the operator’s replaces ours', () => {
    expect(openFile(JSON.stringify([entry])).routeFor('payment', '+256770000042', 'ugx').kind).toBe('route');
  });

  test.each([
    ['{', 'is not JSON'],
    [JSON.stringify([{ ...entry, connector: 'airtel-money' }]), 'MTN MoMo in UG names the connector "airtel-money"'],
  ])('%s is refused, naming it', (content, complaint) => {
    expect(() => openFile(content)).toThrow(complaint);
    expect(() => openFile(content)).toThrow(`CARRIER_ROUTES ${folder}`);
  });

  test('that does not exist is refused, naming it', () => {
    const carrierRoutes = join(folder, 'nowhere.json');
    expect(() => open({ mode: 'production', mtnMomo, carrierRoutes })).toThrow(
      `CARRIER_ROUTES ${carrierRoutes}: the file of routes`,
    );
  });

  test.each([
    [{}, 'f.json: must be a list of routes'],
    [[entry, null], 'f.json: entry 2 must be an object'],
    [[{ ...entry, prefix: '25677' }], 'f.json: entry 1 has the unknown field "prefix"'],
    [[{ ...entry, connector: '' }], 'f.json: entry 1 must name its connector'],
    [[{ ...entry, carrier: 7 }], 'f.json: entry 1 must name its carrier'],
    [[{ ...entry, country: 'uganda' }], 'f.json: entry 1 (MTN MoMo): country must be two capitals'],
    [[{ ...entry, market: '' }], 'f.json: entry 1 (MTN MoMo): market must be a name'],
    [[{ ...entry, prefixes: ['+25677'] }], 'f.json: entry 1 (MTN MoMo, UG): prefixes must be digits'],
    [[{ ...entry, prefixes: [] }], 'f.json: entry 1 (MTN MoMo, UG): prefixes must be digits'],
    [[{ ...entry, prefixes: ['25677', '25677'] }], 'f.json: entry 1 (MTN MoMo, UG): prefixes must be digits'],
    [[{ ...entry, currencies: ['UGX'] }], 'f.json: entry 1 (MTN MoMo, UG): currencies must be some of usd'],
    [
      [entry, { ...entry, carrier: 'Airtel Money' }],
      'f.json: prefix 25677 of Airtel Money is claimed by MTN MoMo in the same currency',
    ],
  ])('%j is refused in one line', (content, complaint) => {
    expect(() => parseRoutes(content, 'f.json')).toThrow(complaint);
  });

  test('lets the longest prefix decide, and one prefix serve two currencies by two routes', () => {
    const routes = parseRoutes(
      [
        { ...entry, carrier: 'Other', prefixes: ['256'] },
        { ...entry, currencies: ['usd'] },
        { ...entry, carrier: 'Second', currencies: ['eur'] },
      ],
      'f.json',
    );
    expect(routeFor(routes, '+256770000042', 'eur')).toMatchObject({ kind: 'route', carrier: 'Second' });
    expect(routeFor(routes, '+256790000042', 'ugx')).toMatchObject({ kind: 'route', carrier: 'Other' });
    expect(routeFor(routes, '+256770000042', 'ugx')).toEqual({
      kind: 'wrong_currency',
      carrier: 'MTN MoMo',
      currencies: ['usd', 'eur'],
    });
  });
});
