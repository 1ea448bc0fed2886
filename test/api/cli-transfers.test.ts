/**
 * `mbongo bank`, `mbongo proof` and `mbongo delivery` as an operator types them, beside a running gateway.
 */
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { isDemoCurrent, openDemo } from '../../src/commands/demo.ts';
import { addBankAccount, type BankAddCommand } from '../../src/usecases/bank-add.ts';
import { closeBankAccount } from '../../src/usecases/bank-close.ts';
import { openCommandWorld } from '../support/command-world.ts';
import { bearerOf, statusOf } from '../support/flows.ts';
import { openOperatorWorld } from '../support/operator-world.ts';
import { rowsOf } from '../support/rows.ts';
import { pdfFile, promise, upload } from '../support/transfer-flows.ts';
import { mint } from '../support/world.ts';

const { world, cli, merchant, close } = await openCommandWorld();
afterAll(close);

const run = (...argv: string[]) => cli.run(argv);
const json = (...argv: string[]) => cli.json(argv);
const refused = (...argv: string[]): Promise<string> => said(1, argv);
const wronglyAsked = (...argv: string[]): Promise<string> => said(2, argv);

async function said(exit: number, argv: readonly string[]): Promise<string> {
  const { status, out, err } = await run(...argv);
  expect([status, out]).toEqual([exit, '']);
  expect(err).toMatch(/^mbongo: [^\n]+\n$/);
  return err;
}

/** The words of `bank add`; given options replace the usual ones. */
function adding(...more: string[]): string[] {
  const options = new Map([
    ['--country', 'cd'],
    ['--currency', 'usd'],
    ['--merchant', merchant.merchant.id],
    ['--bank', 'Banque Okapi'],
    ['--account-name', 'Boutique Kivu'],
    ['--account-number', '00011 05101'],
  ]);
  for (let at = 0; at < more.length; at += 2) options.set(more[at] ?? '', more[at + 1] ?? '');
  return ['bank', 'add', ...[...options].flat()];
}

test('bank add, list and close', async () => {
  const iban = ['--iban', 'fr14 2004 1010 0505 0001 3m02 606', '--swift', 'okpicdki', '--branch-city', 'Goma'];
  const added = await json(...adding(...iban));
  expect(added).toMatchObject({
    bank_account_id: expect.stringMatching(/^bka_/),
    merchant_id: merchant.merchant.id,
    bank_id: 'banque-okapi',
    bank_name: 'Banque Okapi',
    country: 'CD',
    account_number: '00011 05101',
    iban: 'FR1420041010050500013M02606',
    swift: 'OKPICDKI',
    branch_city: 'Goma',
    status: 'ACTIVE',
  });
  const id = String(added.bank_account_id);
  expect(await json('bank', 'list', '--merchant', merchant.merchant.id)).toEqual({ accounts: [added] });
  expect(await refused(...adding('--account-number', '00011-05101'))).toContain(`already exists: ${id}`);
  expect(
    await json('bank', 'close', String((await json(...adding('--currency', 'cdf'))).bank_account_id)),
  ).toMatchObject({ currency: 'cdf' });
  expect(await json('bank', 'close', id)).toEqual({ ...added, status: 'CLOSED' });
  expect(await json('bank', 'close', id)).toMatchObject({ status: 'CLOSED' });
  expect((await run('bank', 'list')).out).toContain('CLOSED');
});

test('of two operators who add the same account at the same moment, one is told that it exists', async () => {
  const wanted: BankAddCommand = {
    merchantId: merchant.merchant.id,
    bank: 'Banque Lualaba',
    bankId: undefined,
    country: 'CD',
    accountName: 'Boutique Kivu',
    accountNumber: '00022 07001',
    iban: undefined,
    swift: undefined,
    currency: 'usd',
    branchCity: undefined,
  };
  const add = () => addBankAccount(world.gateway.deps, wanted);
  const both = await Promise.allSettled([add(), add()]);
  const added = both.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  expect(added).toHaveLength(1);
  const refusals = both.flatMap((one) => (one.status === 'rejected' ? [String(one.reason)] : []));
  expect(refusals).toEqual([expect.stringContaining(`already exists: ${added[0]?.id}`)]);
  for (const { id } of added) await closeBankAccount(world.gateway.deps, id);
  const again = await add();
  expect(again.status).toBe('ACTIVE');
  await closeBankAccount(world.gateway.deps, again.id);
});

test('an account that was closed may be added anew, and its number at another bank', async () => {
  const lake = ['--bank', 'Crédit du Lac (Goma)', '--account-number', 'ab 1204'];
  const first = await json(...adding(...lake));
  expect(first).toMatchObject({ bank_id: 'credit-du-lac-goma', bank_name: 'Crédit du Lac (Goma)' });
  expect(await refused(...adding(...lake, '--account-number', 'AB-12-04'))).toContain('already exists');
  const other = await json(...adding(...lake, '--bank-id', 'lac-2'));
  expect(other).toMatchObject({ bank_id: 'lac-2', account_number: 'ab 1204', status: 'ACTIVE' });
  await json('bank', 'close', String(first.bank_account_id));
  const again = await json(...adding(...lake));
  expect(again).toMatchObject({ bank_id: 'credit-du-lac-goma', status: 'ACTIVE' });
  expect(again.bank_account_id).not.toBe(first.bank_account_id);
});

test('bank add refuses what no payer could use', async () => {
  const wrong: [string, ...string[]][] = [
    ['the IBAN is not valid', '--iban', 'FR1420041010050500013M02607'],
    ['the SWIFT code (BIC) is not valid', '--swift', 'OKAPI'],
    ['not a country', '--country', 'QX'],
    ['not a country', '--country', 'ZZ'],
    ['not a currency', '--currency', 'gbp'],
    ['account number', '--account-number', '12'],
    ['account number', '--account-number', '1234<script>'],
    ["bank's name", '--bank', 'a\u202eb'],
    ['name one with --bank-id', '--bank', '银行'],
    ['a bank id must have', '--bank-id', 'Okapi!'],
    ['the merchant id is not valid', '--merchant', 'mch_x'],
  ];
  for (const [reason, ...options] of wrong) expect(await wronglyAsked(...adding(...options))).toContain(reason);
  expect(await wronglyAsked('bank', 'close', 'bka_x')).toContain('the bank account id is not valid');
});

test('proof list, show, approve and decline', async () => {
  const file = pdfFile('% seen by nobody else');
  const [first, second] = [await promise(world, merchant), await promise(world, merchant)];
  const ids: string[] = [];
  for (const paying of [first, second]) ids.push((await upload(world, paying, file)).json.proof.id);
  const [approved = '', declined = ''] = ids;
  const of = ['proof', 'list', '--merchant', merchant.merchant.id];
  const [one, rest] = [await json(...of, '--limit', '1'), await json(...of, '--after', approved, '--limit', '2')];
  expect([one, rest]).toMatchObject([
    { proofs: [{ proof_id: approved }], next: approved },
    { proofs: [{ proof_id: declined }], next: null },
  ]);
  const waiting = await json(...of, '--status', 'waiting');
  expect(waiting.proofs).toMatchObject([
    { proof_id: approved, transaction_id: first.transaction_id, duplicate_of: [second.transaction_id] },
    { proof_id: declined, transaction_id: second.transaction_id, duplicate_of: [first.transaction_id] },
  ]);
  expect((await run('proof', 'list')).out).toContain(`also used for ${second.transaction_id}`);
  const out = join(cli.dataDir, 'proof.pdf');
  const shown = await json('proof', 'show', approved, '--out', out);
  expect(shown).toMatchObject({ amount: '12.50', content_type: 'application/pdf', size: file.length, file: out });
  expect(Object.keys(shown)).not.toContain('digest');
  expect((await readFile(out)).equals(file)).toBe(true);
  expect((await stat(out)).mode & 0o777).toBe(0o600);
  expect(await refused('proof', 'show', approved, '--out', out)).toContain('already exists');
  expect(await refused('proof', 'show', approved, '--out', join(cli.dataDir, 'no', 'x'))).toContain(
    'cannot be written',
  );
  const named = ['--bank-reference', 'FT 26324', '--note', 'statement of 20 November'];
  expect(await json('proof', 'approve', approved, ...named)).toMatchObject({
    proof_id: approved,
    status: 'approved',
    payment_status: 'approved',
    note: 'statement of 20 November',
    bank_reference: 'FT 26324',
  });
  expect(await refused('proof', 'approve', declined, '--bank-reference', 'ft26324')).toContain(first.transaction_id);
  for (const spelled of ['FT 26324', 'ft26324']) {
    const { payments } = await json('payment', 'list', '--upstream-reference', spelled, '--from', '2026-11-01');
    expect(payments).toMatchObject([{ transaction_id: first.transaction_id }]);
  }
  expect(await json('proof', 'decline', declined, '--reason', 'used twice')).toMatchObject({ status: 'declined' });
  expect([await statusOf(world, first), await statusOf(world, second)]).toEqual(['approved', 'declined']);
  // The command line uses the machine's clock.
  await world.pass(Math.max(0, Date.now() - world.clock.now()) + 1_000);
  expect((await world.receiver.about(first.transaction_id)).body.status).toBe('approved');
  expect((await world.receiver.about(second.transaction_id)).body.status).toBe('declined');
  expect(await refused('proof', 'decline', approved, '--reason', 'x')).toContain('has already been approved');
  expect(await refused('proof', 'approve', declined)).toContain('has already been declined');
  expect(await wronglyAsked('proof', 'list', '--status', 'open')).toContain('waiting, approved, declined');
  expect((await run('proof', 'decline', declined)).status).toBe(2);
});

test('a merchant’s text cannot fake or hide a line of ours', async () => {
  const paying = await promise(world, merchant);
  const { json: uploaded } = await upload(world, paying, pdfFile());
  // Like a row from before such names were refused.
  const forged = 'ord\u001b[8m\nduplicate_of   \u2028\u202e\u200b';
  await rowsOf(world, 'update payment set customer_reference = $1 where id = $2', [forged, paying.transaction_id]);
  const { out } = await run('proof', 'show', uploaded.proof.id);
  expect(out.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
  expect(out).toMatch(
    /^customer_reference {2}ord\\u\{1b\}\[8m\\u\{a\}duplicate_of {3}\\u\{2028\}\\u\{202e\}\\u\{200b\}$/m,
  );
  expect(out.match(/^duplicate_of/gm)).toHaveLength(1);
  expect(await json('proof', 'show', uploaded.proof.id)).toMatchObject({ customer_reference: forged });
  expect(await wronglyAsked('proof', 'list', '--status', 'a\u202eb')).toContain('a\\u{202e}b');
});

test('proof name names the transfer of a proof that was approved without its reference', async () => {
  const { json: uploaded } = await upload(world, await promise(world, merchant), pdfFile());
  const { id } = uploaded.proof;
  const way = `mbongo proof name ${id} --bank-reference`;
  expect(await json('proof', 'approve', id)).toMatchObject({
    bank_reference: null,
    hint: expect.stringContaining(way),
  });
  expect((await run('proof', 'name', id)).status).toBe(2);
  expect(await wronglyAsked('proof', 'name', id, '--bank-reference', '--')).toContain('letters or digits');
  const named = { proof_id: id, status: 'approved', bank_reference: 'FT 26325', hint: null };
  expect(await json('proof', 'name', id, '--bank-reference', 'FT 26325')).toMatchObject(named);
  expect(await json('proof', 'show', id)).toMatchObject({ bank_reference: 'FT 26325' });
  expect((await run('journal', 'list', '--about', id)).out).toContain('proof name');
});

test('proof approve says that the very same file has paid before', async () => {
  const file = pdfFile('% approved twice');
  const [first, second, other] = [
    await promise(world, merchant),
    await promise(world, merchant),
    await promise(world, merchant),
  ];
  // A proof that waits, or was declined, has paid for nothing.
  const { json: waiting } = await upload(world, other, file);
  const approve = async (paying: typeof first, ...named: string[]) =>
    json('proof', 'approve', (await upload(world, paying, file)).json.proof.id, ...named);
  expect(await approve(first)).toMatchObject({ same_file_paid: [] });
  await json('proof', 'decline', waiting.proof.id, '--reason', 'nothing has come');
  const named = ['--bank-reference', 'FT 90125'];
  expect(await approve(second, ...named)).toMatchObject({ same_file_paid: [first.transaction_id] });
});

test('delivery release pays out what is held, once, as the API does', async () => {
  const paying = await promise(world, merchant, { body: { delivery_behaviour: 'delayed_delivery' } });
  const { json: uploaded } = await upload(world, paying, pdfFile());
  expect(await refused('delivery', 'release', paying.transaction_id)).toContain('nothing is held');
  const { out } = await run('proof', 'approve', uploaded.proof.id);
  expect(out).toMatch(
    /^prf_\w+ {2}approved; txn_\w+ {2}approved {2}12\.50 usd\nNothing keeps this transfer from paying again/,
  );
  const released = await json('delivery', 'release', paying.transaction_id);
  expect(released).toMatchObject({ transaction_id: paying.transaction_id, amount: '12.50', currency: 'usd' });
  expect(await json('delivery', 'release', paying.transaction_id)).toEqual(released);
  const path = `/internal/deliveries/${paying.transaction_id}/release`;
  const again = await world.call('POST', path, { bearer: bearerOf(merchant) });
  expect(again.json.released_at).toBe(released.released_at);
});

test('merchant set and merchant brand change what they name, and take it back', async () => {
  const own = (await world.merchant()).merchant.id;
  const set = await json(
    'merchant',
    'set',
    '--merchant',
    own,
    '--methods',
    'wallet,card',
    '--method-limit',
    'card:usd:1..9',
  );
  expect(set.settings).toEqual({
    methods: ['wallet', 'card'],
    method_limits: { card: { usd: { min: '1.00', max: '9.00' } } },
  });
  const bare = await json('merchant', 'set', '--merchant', own, '--methods', 'all', '--method-limit', 'card:usd:none');
  expect(bare.settings).toEqual({ method_limits: {} });
  expect((await json('merchant', 'brand', '--merchant', own, '--colour', '#0b6e4f')).settings).toMatchObject({
    brand: { colour: '#0b6e4f' },
  });
  expect(await json('merchant', 'brand', '--merchant', own, '--no-logo')).toMatchObject({ merchant_id: own });
  expect(await wronglyAsked('merchant', 'brand', '--merchant', own)).toContain('nothing to set');
});

test('the demo merchant can receive transfers, in usd and cdf', async () => {
  const operator = await openOperatorWorld();
  const dataDir = await mkdtemp(join(tmpdir(), 'mbongo-demo-'));
  const demo = await openDemo(operator.deps, dataDir);
  const [known] = await operator.store.merchant.list();
  const accounts = await operator.store.bankAccount.ofMerchant(known?.shard ?? 0, demo?.merchant_id ?? '');
  expect(accounts.map(({ currency, status }) => `${currency} ${status}`).sort()).toEqual(['cdf ACTIVE', 'usd ACTIVE']);
  expect(await openDemo(operator.deps, dataDir)).toEqual(demo);
  await operator.close();
  await rm(dataDir, { recursive: true, force: true });
});

test.each(['merchant', 'bank_account'])(
  'a start that dies as soon as its demo’s %s is committed leaves it whole to the next one',
  async (last) => {
    const operator = await openOperatorWorld();
    const dataDir = await mkdtemp(join(tmpdir(), 'mbongo-demo-'));
    const { store } = operator.deps;
    const commit: typeof store.commit = async (change) => {
      const outcome = await store.commit(change);
      if (change.claims?.some(({ table }) => table === last)) throw new Error('killed');
      return outcome;
    };
    await expect(openDemo({ ...operator.deps, store: { ...store, commit } }, dataDir)).rejects.toThrow('killed');
    const demo = await openDemo(operator.deps, dataDir);
    expect((await store.merchant.list()).map(({ id }) => id)).toEqual([demo?.merchant_id]);
    expect(demo && (await isDemoCurrent(operator.deps, demo))).toBe(true);
    const [merchant] = await store.merchant.list();
    expect(await store.bankAccount.ofMerchant(merchant?.shard ?? 0, merchant?.id ?? '')).toHaveLength(2);
    await operator.close();
    await rm(dataDir, { recursive: true, force: true });
  },
);

test('none of it shows a session or a secret', async () => {
  const { token } = await mint(world, merchant);
  const { out } = await run('proof', 'list', '--json');
  for (const secret of [token, merchant.secret]) expect(out).not.toContain(secret);
});
