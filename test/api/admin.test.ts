/**
 * Administration over a real database: merchants, credentials, wallets, balances, fees.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CURRENCIES } from '../../src/domain/currency.ts';
import { feeOf, feeRuleFor } from '../../src/domain/fee.ts';
import { SHARDS, shardOf } from '../../src/domain/ids.ts';
import { merchantAccount } from '../../src/domain/ledger.ts';
import { makeWalletNumber } from '../../src/domain/wallet.ts';
import { CommitUnknown, StoreBusy, StoreUnavailable } from '../../src/store/errors.ts';
import { creditBalance } from '../../src/usecases/balance-credit.ts';
import { holdConnector, resumeConnector } from '../../src/usecases/connector-hold.ts';
import { issueCredential } from '../../src/usecases/credential-issue.ts';
import { revokeCredential } from '../../src/usecases/credential-revoke.ts';
import { rotateCredential } from '../../src/usecases/credential-rotate.ts';
import { removeFee, setFee } from '../../src/usecases/fee-set.ts';
import { readHold } from '../../src/usecases/holds.ts';
import { createMerchant, type MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { setMerchant } from '../../src/usecases/merchant-set.ts';
import { setMerchantStatus } from '../../src/usecases/merchant-status.ts';
import { commitOnce } from '../../src/usecases/operator-commit.ts';
import { OperatorError } from '../../src/usecases/operator-error.ts';
import { creditWallet } from '../../src/usecases/wallet-credit.ts';
import { openWallet } from '../../src/usecases/wallet-open.ts';
import { rotateWebhookSecret } from '../../src/usecases/webhook-secret-rotate.ts';
import { type OperatorWorld, openOperatorWorld } from '../support/operator-world.ts';

const HOUR = 3_600_000;
let world: OperatorWorld;

beforeEach(async () => {
  world = await openOperatorWorld();
});

afterEach(async () => {
  await world.close();
});

const make = (noFloat = true) => createMerchant(world.deps, { name: 'Boutique Kivu', noFloat });

async function available(merchantId: string, currency: (typeof CURRENCIES)[number]): Promise<bigint | undefined> {
  const { shard, id } = merchantAccount(merchantId, 'available', currency);
  return (await world.store.account.get(shard, id))?.balance;
}

const accountsOf = ({ merchant }: MerchantCreated) => world.store.bankAccount.ofMerchant(merchant.shard, merchant.id);

describe('a merchant', () => {
  it('is created with a credential and a webhook secret that are not kept in plain text', async () => {
    const made = await make();
    const { shard, id } = made.merchant;
    expect(made.secret).toMatch(/^sk_test_[A-Za-z0-9_-]{43}$/);
    expect(made.webhook_secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const credential = await world.store.credential.caller(shard, made.key_id);
    expect(credential).toMatchObject({ merchant_id: id, status: 'ALLOWED', merchant_status: 'ALLOWED' });
    expect(credential?.secret_hash).toBe(world.deps.secrets.digest(made.secret));
    const kept = JSON.stringify([credential, await world.store.webhookSecret.ofMerchant(shard, id)]);
    expect(kept).not.toContain(made.secret.slice(8));
    expect(kept).not.toContain(made.webhook_secret.slice(6, 30));
  });

  it('starts with ten million of each currency in a sandbox, or with nothing on request', async () => {
    const [rich, poor] = [await make(false), await make()];
    for (const currency of CURRENCIES) {
      const exponent = currency === 'usd' ? 2n : undefined;
      const balance = await available(rich.merchant.id, currency);
      if (exponent !== undefined) expect(balance).toBe(10_000_000n * 10n ** exponent);
      expect(balance).toBeGreaterThanOrEqual(10_000_000n);
      expect(await available(poor.merchant.id, currency)).toBeUndefined();
    }
    expect(await available(rich.merchant.id, 'xof')).toBe(10_000_000n);
    expect((await world.store.auditAll()).findings).toEqual([]);
  });

  it('starts with bank accounts that no other merchant has in a sandbox, or with none on request', async () => {
    const accounts = await Promise.all([make(false), make(false), make()].map((made) => made.then(accountsOf)));
    expect(accounts.map((own) => own.map(({ currency }) => currency).toSorted())).toEqual([
      ['cdf', 'usd'],
      ['cdf', 'usd'],
      [],
    ]);
    expect(new Set(accounts.flat().map(({ account_number }) => account_number)).size).toBe(4);
  });

  it('has a live secret, no float and no bank account in production', async () => {
    const made = await createMerchant({ ...world.deps, mode: 'production' }, { name: 'Real', noFloat: false });
    expect(made.secret).toMatch(/^sk_live_/);
    expect(await available(made.merchant.id, 'usd')).toBeUndefined();
    expect(await accountsOf(made)).toEqual([]);
  });

  it.each(['', '   ', 'a\nb', 'a\u202eb', 'x'.repeat(101)])('is refused the name %j', async (name) => {
    await expect(createMerchant(world.deps, { name, noFloat: true })).rejects.toThrow('one line');
  });

  it('is suspended and reactivated', async () => {
    const { merchant, key_id } = await make();
    const status = async () => (await world.store.credential.caller(merchant.shard, key_id))?.merchant_status;
    await setMerchantStatus(world.deps, merchant.id, 'SUSPENDED');
    expect(await status()).toBe('SUSPENDED');
    await setMerchantStatus(world.deps, merchant.id, 'ALLOWED');
    expect(await status()).toBe('ALLOWED');
    await expect(setMerchantStatus(world.deps, merchant.id.replace(/.{6}$/, '000000'), 'ALLOWED')).rejects.toThrow(
      'there is no merchant',
    );
  });

  it('has settings that change one by one and return to their defaults', async () => {
    const { merchant } = await make();
    await setMerchant(world.deps, merchant.id, { currencies: ['usd', 'cdf'], scope_required: true });
    const both = await setMerchant(world.deps, merchant.id, {
      limits: new Map([
        ['usd', { min: 100n, max: 5000n }],
        ['cdf', { min: 5n }],
      ]),
      url_hosts: ['Shop.example'],
    });
    expect(both.settings).toEqual({
      currencies: ['usd', 'cdf'],
      scope_required: true,
      limits: { usd: { min: '100', max: '5000' }, cdf: { min: '5' } },
      url_hosts: ['shop.example'],
    });
    await setMerchant(world.deps, merchant.id, { currencies: null, limits: new Map([['usd', null]]) });
    const stored = await world.store.merchant.get(merchant.shard, merchant.id);
    expect(stored?.settings).toEqual({
      scope_required: true,
      limits: { cdf: { min: '5' } },
      url_hosts: ['shop.example'],
    });
    await expect(
      setMerchant(world.deps, merchant.id, { limits: new Map([['usd', { min: 2n, max: 1n }]]) }),
    ).rejects.toThrow('above the largest');
    for (const host of ['a b', 'x/y', 'u@h', 'http://h', 'h:8443']) {
      await expect(setMerchant(world.deps, merchant.id, { url_hosts: [host] })).rejects.toThrow('not a host name');
    }
    for (const hosts of [[], ['*.example.com']]) {
      await expect(setMerchant(world.deps, merchant.id, { url_hosts: hosts })).rejects.toThrow(
        /^(name at least|"\*\.)/,
      );
    }
  });
});

describe('credentials', () => {
  it('are issued side by side, rotated with a grace period, and revoked at once', async () => {
    const { merchant, key_id } = await make();
    const second = await issueCredential(world.deps, merchant.id, ['10.0.0.0/8']);
    const rotated = await rotateCredential(world.deps, second.key_id, 24 * HOUR);
    expect(rotated.old_retires_at).toBe(world.clock.now() + 24 * HOUR);
    await revokeCredential(world.deps, key_id);
    const all = await world.store.credential.list(merchant.id);
    const status = Object.fromEntries(all.map((one) => [one.id, [one.status, one.retires_at, one.allowed_addresses]]));
    expect(status).toEqual({
      [key_id]: ['REVOKED', null, null],
      [second.key_id]: ['RETIRING', rotated.old_retires_at, ['10.0.0.0/8']],
      [rotated.key_id]: ['ALLOWED', null, ['10.0.0.0/8']],
    });
    await revokeCredential(world.deps, second.key_id);
    expect((await world.store.credential.caller(merchant.shard, second.key_id))?.status).toBe('REVOKED');
  });

  it('are rotated once, however many commands ask for it', async () => {
    const { merchant, key_id } = await make();
    const runs = await Promise.allSettled(Array.from({ length: 6 }, () => rotateCredential(world.deps, key_id, HOUR)));
    expect(runs.filter((run) => run.status === 'fulfilled')).toHaveLength(1);
    await expect(rotateCredential(world.deps, key_id, HOUR)).rejects.toThrow(
      /is RETIRING already: .* if this one has leaked, `mbongo credential revoke` ends it$/,
    );
    const all = await world.store.credential.list(merchant.id);
    expect(all.map(({ status }) => status).toSorted()).toEqual(['ALLOWED', 'RETIRING']);
  });

  it('are revoked at once by a rotation without grace period', async () => {
    const { merchant, key_id } = await make();
    await rotateCredential(world.deps, key_id, 0);
    expect((await world.store.credential.caller(merchant.shard, key_id))?.status).toBe('REVOKED');
    await expect(rotateCredential(world.deps, key_id, 0)).rejects.toThrow(
      `REVOKED already: \`mbongo credential issue --merchant ${merchant.id}\` makes another one`,
    );
    await expect(rotateCredential(world.deps, 'key_x', 0)).rejects.toThrow('the key id is not valid');
  });
});

describe('wallets', () => {
  const open = (over: Partial<Parameters<typeof openWallet>[1]> = {}) =>
    openWallet(world.deps, {
      number: undefined,
      pin: '1234',
      currency: 'usd',
      balance: 10_000n,
      phone: '+243810000042',
      kind: 'wallet',
      ...over,
    });

  it('are opened with a PIN and a balance, and credited', async () => {
    const { wallet } = await open();
    const stored = await world.store.wallet.get(wallet.shard, wallet.id);
    expect(stored).toMatchObject({ kind: 'wallet', currency: 'usd', phone: '+243810000042', pin_failures: 0 });
    expect(await world.deps.secrets.verifyPin('1234', stored?.pin_hash, wallet.id, 'one')).toBe(true);
    expect((await creditWallet(world.deps, wallet.id, '2.50')).balance).toBe(10_250n);
    expect((await world.store.auditAll()).findings).toEqual([]);
  });

  it('keep a given number, once', async () => {
    const { wallet } = await open({ balance: 0n });
    await expect(open({ number: wallet.id, balance: 500n })).rejects.toThrow('open already');
    expect((await world.store.account.get(wallet.shard, wallet.id))?.balance ?? 0n).toBe(0n);
  });

  it('are refused if they are not usable', async () => {
    await expect(open({ pin: '12' })).rejects.toThrow('four to eight digits');
    await expect(open({ phone: '0810000042' })).rejects.toThrow('international');
    await expect(open({ number: '5707000000000001' })).rejects.toThrow('not a wallet number');
    await expect(creditWallet(world.deps, '5707', '1.00')).rejects.toThrow('has 16 digits and begins with 5707');
    const { wallet } = await open();
    await expect(creditWallet(world.deps, wallet.id, '0')).rejects.toThrow('not a valid amount');
  });
});

describe('balances and fees', () => {
  it('are credited in minor units and add up', async () => {
    const { merchant } = await make();
    const credits = await Promise.all(
      Array.from({ length: 20 }, () => creditBalance(world.deps, merchant.id, 'cdf', 12_345n)),
    );
    expect(Math.max(...credits.map((credit) => Number(credit.available)))).toBe(20 * 12_345);
    expect(await available(merchant.id, 'cdf')).toBe(20n * 12_345n);
    expect((await world.store.auditAll()).findings).toEqual([]);
  });

  it('are set by method and currency, replaced, and removed', async () => {
    const { merchant } = await make();
    const rule = { merchantId: merchant.id, currency: 'usd', fixed: 10n, min: 50n, max: 1_000n } as const;
    await setFee(world.deps, { ...rule, method: 'wallet', rate: '2.5' });
    await setFee(world.deps, { ...rule, method: undefined, rate: '0.0001', min: undefined });
    const { settings } = await setFee(world.deps, { ...rule, method: 'wallet', rate: '3' });
    expect(settings.fees).toHaveLength(2);
    const fee = (amount: bigint, method: 'wallet' | 'flash') => feeOf(feeRuleFor(settings.fees, method, 'usd'), amount);
    expect([fee(10_000n, 'wallet'), fee(100n, 'wallet'), fee(900_000n, 'wallet')]).toEqual([310n, 50n, 1_000n]);
    expect(fee(100_000_000n, 'flash')).toBe(110n);
    const zero = { fixed: 0n, min: undefined, max: undefined, rate: '0' };
    const free = await setFee(world.deps, { ...rule, ...zero, method: 'wallet' });
    const freeRule = feeRuleFor(free.settings.fees, 'wallet', 'usd');
    expect([freeRule?.method, feeOf(freeRule, 10_000n)]).toEqual(['wallet', 0n]);
    const without = await removeFee(world.deps, { merchantId: merchant.id, currency: 'usd', method: 'wallet' });
    expect(without.settings.fees?.map(({ method }) => method)).toEqual([undefined]);
    for (const rate of ['101', '2.50001', '-1', '1e1', '', '2,5']) {
      await expect(setFee(world.deps, { ...rule, method: 'wallet', rate })).rejects.toThrow('not a rate');
    }
  });
});

/** How the database fails one use of the store; `lost` commits first and then loses the answer. */
type Fault = 'lost' | 'unknown' | 'away' | 'busy' | undefined;

/** The world's deps on a database that fails successive uses as listed, and then works again. */
function failing(...faults: Fault[]) {
  const { store } = world;
  const next = async (run?: () => Promise<unknown>): Promise<void> => {
    const fault = faults.shift();
    if (fault === 'lost') await run?.();
    if (fault === 'lost' || fault === 'unknown') throw new CommitUnknown();
    if (fault === 'away') throw new StoreUnavailable();
    if (fault === 'busy') throw new StoreBusy();
  };
  const commit: typeof store.commit = async (change) => {
    await next(() => store.commit(change));
    return store.commit(change);
  };
  const { get } = store.idempotency;
  const idempotency = {
    ...store.idempotency,
    get: async (shard: number, id: string) => {
      await next();
      return get(shard, id);
    },
  };
  return { ...world.deps, store: { ...store, commit, idempotency } };
}

/** Lets a command's pauses pass until it ends. */
async function ended<A>(running: Promise<A>): Promise<A> {
  let over = false;
  const watched = running.finally(() => {
    over = true;
  });
  watched.catch(() => undefined);
  while (!over) await world.clock.advance(100);
  return watched;
}

describe('a command whose database answer was lost', () => {
  const always = (fault: Fault) => Array.from({ length: 50 }, () => fault);

  it.each<[string, Fault[]]>([
    ['lost, then away', ['lost', 'away', 'busy', undefined]],
    ['lost, and away at the look-up', ['lost', undefined, 'away']],
    ['not carried out, then away', ['unknown', 'away', 'unknown']],
  ])('has taken effect once when it reports so: %s', async (_, faults) => {
    const { merchant } = await make();
    const credited = await ended(creditBalance(failing(...faults), merchant.id, 'usd', 100n));
    expect(credited.available).toBe(100n);
    expect(await available(merchant.id, 'usd')).toBe(100n);
  });

  it('reports that it may have taken effect if the database stays unreachable', async () => {
    const { merchant } = await make();
    const credit = ended(creditBalance(failing('lost', ...always('away')), merchant.id, 'usd', 100n));
    await expect(credit).rejects.toThrow(/may have taken effect: check the balance first/);
    await expect(credit).rejects.toBeInstanceOf(OperatorError);
    expect(await available(merchant.id, 'usd')).toBe(100n);
  });

  it('never reports a doubt about a change that was acknowledged', async () => {
    const { merchant } = await make();
    const deps = failing();
    const account = { get: () => Promise.reject(new StoreUnavailable()) };
    const credit = ended(creditBalance({ ...deps, store: { ...deps.store, account } }, merchant.id, 'usd', 100n));
    await expect(credit).rejects.toThrow(/the command has taken effect, once: check the balance first/);
    expect(await available(merchant.id, 'usd')).toBe(100n);
  });

  it('reports at once that the database is unreachable if nothing can have been written', async () => {
    const { merchant } = await make();
    const credit = creditBalance(failing('away'), merchant.id, 'usd', 100n);
    await expect(credit).rejects.toBeInstanceOf(StoreUnavailable);
    expect(await available(merchant.id, 'usd')).toBeUndefined();
  });

  it('says that a fee is removed, although its own removal is what it finds', async () => {
    const { merchant } = await make();
    const place = { merchantId: merchant.id, method: 'wallet', currency: 'usd' } as const;
    await setFee(world.deps, { ...place, rate: '2.5', fixed: 0n, min: undefined, max: undefined });
    const removed = await ended(removeFee(failing('lost'), place));
    expect(removed.settings.fees).toEqual([]);
    await expect(removeFee(world.deps, place)).rejects.toThrow('there is no fee for wallet in usd');
  });

  it('is not given again for a wallet whose number the gateway chooses: that would open, and fill, a second one', async () => {
    const wallet = { pin: '1234', currency: 'usd', balance: 100n, phone: '+243810000042', kind: 'wallet' } as const;
    const open = (number: string | undefined) =>
      ended(openWallet(failing('lost', ...always('away')), { ...wallet, number }));
    await expect(open(undefined)).rejects.toThrow(/may have taken effect: see `mbongo wallet list`/);
    await expect(open(makeWalletNumber(7, 1))).rejects.toThrow(/may have taken effect: open it again: a number that/);
  });

  it('holds a connector, and ends the hold, by whom it was said, and is not told of its own doing', async () => {
    const said = { by: 'amina', why: 'pays twice' };
    const hold = await ended(holdConnector(failing('lost'), 'mastercard', said));
    expect(hold).toMatchObject(said);
    expect(await readHold(world.deps, 'mastercard')).toEqual(hold);
    await ended(resumeConnector(failing('lost'), 'mastercard'));
    expect(await readHold(world.deps, 'mastercard')).toBeUndefined();
  });

  it('still shows the new secret of a rotation, which happened once', async () => {
    const { merchant, key_id } = await make();
    const rotated = await ended(rotateCredential(failing('lost', 'away'), key_id, HOUR));
    const made = await world.store.credential.caller(merchant.shard, rotated.key_id);
    expect(made?.secret_hash).toBe(world.deps.secrets.digest(rotated.secret));
    expect(await world.store.credential.list(merchant.id)).toHaveLength(2);
    const webhook = await ended(rotateWebhookSecret(failing('lost'), merchant.id, HOUR));
    expect(webhook.webhook_secret).toMatch(/^whsec_/);
    const secrets = await world.store.webhookSecret.ofMerchant(merchant.shard, merchant.id);
    expect(secrets.map(({ status }) => status).toSorted()).toEqual(['ALLOWED', 'RETIRING']);
  });
});

describe('a command', () => {
  it('is carried out once, however often its change is sent', async () => {
    const { merchant } = await make();
    const credit = merchantAccount(merchant.id, 'available', 'usd');
    const transfer = {
      shard: merchant.shard,
      id: 'trf_once',
      debit: { shard: merchant.shard, id: 'float:usd', floored: false },
      credit,
      amount_minor: 100n,
      currency: 'usd' as const,
      cause: 'balance_credit' as const,
      cause_id: merchant.id,
      at: world.clock.now(),
    };
    const runs = [1, 2, 3].map(() => commitOnce(world.deps, merchant.shard, 'one', { transfers: [transfer] }));
    expect(await Promise.all(runs)).toEqual(['won', 'won', 'won']);
    expect(await available(merchant.id, 'usd')).toBe(100n);
    expect(shardOf(merchant.id)).toBeLessThan(SHARDS);
  });
});
