/**
 * Every flow of money, once for each step after which its process can die, and once for each call before which it can. The
 * caller repeats the call at another process under the same Idempotency-Key, as the documentation says.
 *
 * What must hold each time: the money moved once, in the upstream's book and in ours; a repeated call gets the same answer,
 * to the byte; each state was told once; nothing is left open or reserved.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { BookLine } from '../../sandbox/carriers/book.ts';
import { decideAttempt } from '../../src/usecases/attempt-decide.ts';
import { creditBalance } from '../../src/usecases/balance-credit.ts';
import type { Deps } from '../../src/usecases/deps.ts';
import type { MerchantCreated } from '../../src/usecases/merchant-create.ts';
import { setMerchant } from '../../src/usecases/merchant-set.ts';
import { OperatorError } from '../../src/usecases/operator-error.ts';
import { approvePayout } from '../../src/usecases/payout-approve.ts';
import { approveProof } from '../../src/usecases/proof-decide.ts';
import { listProofs } from '../../src/usecases/proof-read.ts';
import {
  answerChallenge,
  callbackFor,
  capturesOf,
  creditsOnCard,
  postCallback,
  readyToPay,
  submitCard,
} from '../support/card-payments.ts';
import { setSettings } from '../support/checkout-flows.ts';
import {
  collect,
  debitsOf,
  freshKey,
  hooksAbout,
  numberEnding,
  payByPhone,
  payFromWallet,
  phoneState,
  statusOf,
  untilStatus,
} from '../support/flows.ts';
import { balances, createPayout, lines, readBatch, sendPayout } from '../support/payout-flows.ts';
import { creditsOf, minted, paidByPhone, readBack, refunded } from '../support/refund-flows.ts';
import { rowsOf } from '../support/rows.ts';
import { addAccount, FORM_TYPE, formOf, payByTransfer, pngFile } from '../support/transfer-flows.ts';
import { until, whileTimePasses } from '../support/waiting.ts';
import { type Answer, type CallOptions, collectBody, mint, openWorld, type World } from '../support/world.ts';
import { type Death, type Heir, type Mortal, openHeir, openMortal } from './mortal.ts';

let world: World;
let heir: Heir;
beforeAll(async () => {
  world = await openWorld({ role: 'api', env: { RATE_LIMIT_SCALE: '0' } });
  heir = await openHeir(world);
});
/** What is left of the dead gateways ends by itself, and is awaited only at the end. */
const mortals: Mortal[] = [];
afterAll(async () => {
  heir.wake();
  const all = [heir, ...mortals];
  await whileTimePasses(world, Promise.all(all.map((one) => one.close())), PATIENT_MS);
  await world.close();
});

/** 20 000 ms: time passes in large steps, as nothing is observed in between; in smaller ones while a call is being answered. */
const STEP_MS = 20_000;
const PATIENT_MS = 5_000;
const HOUR_MS = 60 * 60_000;

/** Lets time pass until `ask` returns something. */
function later<T>({ pass }: Pick<World, 'pass'>, ask: () => Promise<T | undefined>): Promise<T> {
  return until(async () => {
    const found = await ask();
    if (found === undefined) await pass(STEP_MS);
    return found;
  }, 60);
}

/** A call that was answered with success. */
interface Heard {
  readonly path: string;
  readonly options: CallOptions;
  readonly answer: Answer;
}

/** The world of a caller who calls the mortal first, and repeats at another process what got no final answer. */
function repeating(mortal: Mortal, heard: Heard[]): World {
  const call: World['call'] = async (method, path, options = {}) => {
    const asked = method === 'GET' ? options : { ...options, headers: { ...freshKey(), ...options.headers } };
    let answer = await mortal.call(method, path, asked);
    if (answer === undefined || isToBeRepeated(answer)) {
      answer = await later(mortal, async () => {
        // It may wait for a run that has died.
        const again = await whileTimePasses(world, world.call(method, path, asked), PATIENT_MS);
        return isToBeRepeated(again) ? undefined : again;
      });
    }
    // A browser's post has no key.
    if (method === 'POST' && answer.status < 300 && !path.includes('3ds-callback')) {
      heard.push({ path, options: asked, answer });
    }
    return answer;
  };
  return { ...world, call, pass: mortal.pass };
}

function operating(mortal: Mortal): Operate {
  return async (command) => {
    if ((await mortal.operate(command)) === undefined) await command(world.gateway.deps);
  };
}

function isToBeRepeated({ json }: Answer): boolean {
  return json?.retryable === true;
}

/** The result when everything is over. */
interface Ended {
  /** How often each movement of money was made. */
  readonly moved: unknown;
  /** How often it should have been made. */
  readonly owed: unknown;
  /** Transactions, and the final state of each. */
  readonly told: readonly (readonly [transactionId: string, status: string])[];
}

/** The final states if no process dies. */
const GOOD = ['approved', 'completed', 'refunded'];

/** Runs an operator's command on the mortal, and again in another process if the mortal did not report how it ended. */
type Operate = (command: (deps: Deps) => Promise<unknown>) => Promise<void>;

type Flow = (client: World, merchant: MerchantCreated, operate: Operate) => Promise<Ended>;

/** The final state of a payment: it has paid nothing if the process died before its carrier was asked for the money. */
async function endOf(client: World, paying: { readonly token: string; readonly transaction_id: string }) {
  const status = await later(client, async () => {
    const now = await statusOf(world, paying);
    return now === 'approved' || now === 'failed' ? now : undefined;
  });
  return { owed: status === 'approved' ? [1] : [], told: [[paying.transaction_id, status]] as const };
}

const timesOf = (lines: readonly BookLine[]): number[] => lines.map(({ times }) => times);

/** The merchant's credits for that payment according to the ledger. */
async function creditsOfMerchant({ transaction_id }: { readonly transaction_id: string }): Promise<number[]> {
  const credits = "select 1 as times from ledger_transfer where cause_id = $1 and cause = 'payment'";
  const rows = await rowsOf<{ times: number }>(world, credits, [transaction_id]);
  return rows.map(({ times }) => times);
}

/** Undefined if the operator is told to come again. */
function orWait<T>(deciding: Promise<T>): Promise<T | undefined> {
  return deciding.catch((error: unknown) => {
    if (error instanceof OperatorError) return undefined;
    throw error;
  });
}

/**
 * An operator who was not told whether it was decided looks, and decides what is still open. The dead process's last commit may
 * take effect just after that look: then the command says so, and a second look agrees.
 */
async function decideIfOpen(isOpen: () => Promise<boolean>, decide: () => Promise<unknown>): Promise<unknown> {
  if (!(await isOpen())) return 'decided';
  try {
    return await decide();
  } catch (error) {
    if (!(error instanceof OperatorError) || (await isOpen())) throw error;
    return 'decided';
  }
}

async function debitsOfWallet(
  { transaction_id }: { readonly transaction_id: string },
  number: string,
): Promise<number[]> {
  const debits = 'select 1 as times from ledger_transfer where cause_id = $1 and debit_account like $2';
  const rows = await rowsOf<{ times: number }>(world, debits, [transaction_id, `%${number}%`]);
  return rows.map(({ times }) => times);
}

const FLOWS: { readonly [name: string]: Flow } = {
  async 'a payment from a wallet'(client, merchant) {
    const wallet = await world.wallet();
    const paying = await collect(client, merchant, { minted });
    await payFromWallet(client, paying, wallet);
    return { ...(await endOf(client, paying)), moved: await debitsOfWallet(paying, wallet.number) };
  },
  async 'a payment from a wallet, with a code'(client, merchant) {
    const phone = numberEnding('42');
    const wallet = await world.wallet({ balance: 500_00n, phone });
    const paying = await collect(client, merchant, { minted: { ...minted, amount: '150.00' } });
    await payFromWallet(client, paying, wallet);
    const { payment_id, token: bearer } = paying;
    const otp_code = await later(client, async () => {
      const [newest] = (await phoneState(world, phone)).messages.flatMap(({ code }) => code ?? []);
      // The process that was to send the code has died: the customer asks for another one, as soon as that is allowed.
      if (newest === undefined) await world.call('POST', '/payments/resend-otp', { bearer, body: { payment_id } });
      return newest;
    });
    await client.call('POST', '/payments/verify-otp', { bearer, body: { payment_id, otp_code } });
    return { ...(await endOf(client, paying)), moved: await debitsOfWallet(paying, wallet.number) };
  },
  async 'a payment by phone'(client, merchant) {
    const msisdn = numberEnding('01');
    const paying = await collect(client, merchant, { method: 'mobile_money', minted });
    await payByPhone(client, paying, msisdn);
    return { ...(await endOf(client, paying)), moved: timesOf(debitsOf(world, msisdn)) };
  },
  async 'a payment by phone that its carrier says nothing about'(client, merchant, operate) {
    const paying = await collect(client, merchant, { method: 'mobile_money', minted });
    await payByPhone(client, paying, numberEnding('04'));
    const word = { paid: true, providerReference: `SEEN-${paying.transaction_id}`, by: 'amina', why: 'statement' };
    const decide = async (deps: Deps): Promise<unknown> => {
      const open = 'select attempt_id as id from payment where id = $1 and completed_at is null';
      const [attempt] = await rowsOf<{ id: string }>(world, open, [paying.transaction_id]);
      return attempt === undefined ? 'decided' : orWait(decideAttempt(deps, attempt.id, word));
    };
    await operate((deps) => later(client, () => decide(deps)));
    return { ...(await endOf(client, paying)), moved: await creditsOfMerchant(paying) };
  },
  async 'a payment by card, with a challenge'(client, merchant) {
    const paying = await readyToPay(client, merchant, 'challenge', { minted });
    const submitted = await submitCard(client, paying);
    if (submitted.status === 202) {
      await answerChallenge(world, paying, 'pass');
      await postCallback(client, callbackFor(world, paying));
    }
    return { ...(await endOf(client, paying)), moved: timesOf(capturesOf(world, paying)) };
  },
  async 'a payment by Google Pay'(client, merchant) {
    const { token } = await mint(client, merchant, minted);
    const native = { native_pay_token: 'tok_approved', native_pay_token_type: 'PAYMENT_GATEWAY' };
    const body = collectBody(world, 'google_pay', native);
    const { json } = await client.call('POST', '/payments/collect', { bearer: token, body });
    const paying = { token, transaction_id: json.transaction_id };
    return { ...(await endOf(client, paying)), moved: timesOf(capturesOf(world, paying)) };
  },
  async 'a payment by bank transfer'(client, merchant, operate) {
    const account = await addAccount(world, merchant);
    const paying = await collect(client, merchant, { method: 'bank_transfer', minted });
    await payByTransfer(client, paying, account.id);
    const { token: bearer, payment_id: value } = paying;
    const raw = formOf([
      { name: 'payment_id', value },
      { name: 'file', value: pngFile(), fileName: 'proof.png', type: 'image/png' },
    ]);
    const headers = { 'content-type': FORM_TYPE };
    await client.call('POST', '/payments/bank-transfer/proof', { bearer, raw: new Uint8Array(raw), headers });
    const waiting = { merchantId: merchant.merchant.id, status: 'waiting', limit: 2 } as const;
    const find = async (): Promise<string | undefined> =>
      (await listProofs(world.gateway.deps, waiting)).map(({ proof }) => proof.id)[0];
    const proofId = (await find()) ?? '';
    expect(proofId).not.toBe('');
    const isOpen = async (): Promise<boolean> => (await find()) !== undefined;
    await operate((deps) => decideIfOpen(isOpen, () => approveProof(deps, proofId, null)));
    return { ...(await endOf(client, paying)), moved: await creditsOfMerchant(paying) };
  },
  async 'a payout to two people'(client, merchant) {
    await creditBalance(world.gateway.deps, merchant.merchant.id, 'usd', 100_00n);
    const beneficiaries = lines(2).map((line) => ({ ...line, phone_number: numberEnding('50') }));
    const sent = await sendPayout(client, merchant, { beneficiaries });
    expect(sent.status, sent.text).toBe(200);
    const batch = await later(client, async () => {
      const { json } = await readBatch(world, merchant, sent.json.batch_id);
      return json.pending_count === 0 ? json : undefined;
    });
    const moved = beneficiaries.map(({ phone_number }) => timesOf(creditsOf(world, phone_number)));
    return {
      moved: [...moved, await balances(world, merchant)],
      owed: [[1], [1], { available: 96_00n, reserved: 0n }],
      told: batch.beneficiaries.map((line: { transaction_id: string }) => [line.transaction_id, 'completed']),
    };
  },
  async 'a payout on a date'(client, merchant) {
    await creditBalance(world.gateway.deps, merchant.merchant.id, 'usd', 100_00n);
    // An hour away at least: a call that has to be repeated takes minutes.
    const due = new Date((Math.ceil(world.clock.now() / HOUR_MS) + 1) * HOUR_MS);
    await setSettings(world, merchant, { payout_hour: due.getUTCHours() });
    const phone_number = numberEnding('50');
    const made = await createPayout(client, merchant, {
      sending_type: 'scheduled',
      scheduled_dates: [due.toISOString().slice(0, 10)],
      beneficiaries: lines(1).map((line) => ({ ...line, phone_number })),
    });
    expect(made.status, made.text).toBe(200);
    await world.clock.advance(due.getTime() - world.clock.now());
    const batch = await later(client, async () => {
      const { json } = await readBatch(world, merchant, made.json.batch_id);
      return json.status === 'completed' ? json : undefined;
    });
    return {
      moved: [timesOf(creditsOf(world, phone_number)), await balances(world, merchant)],
      owed: [[1], { available: 98_00n, reserved: 0n }],
      told: batch.beneficiaries.map((line: { transaction_id: string }) => [line.transaction_id, 'completed']),
    };
  },
  async 'a payout that an operator has to approve'(client, merchant, operate) {
    await creditBalance(world.gateway.deps, merchant.merchant.id, 'usd', 100_00n);
    await setMerchant(world.gateway.deps, merchant.merchant.id, { payout_approval_from: new Map([['usd', 1n]]) });
    const phone_number = numberEnding('50');
    const beneficiaries = lines(1).map((line) => ({ ...line, phone_number }));
    const made = await createPayout(client, merchant, { beneficiaries });
    expect(made.status, made.text).toBe(200);
    const { batch_id } = made.json;
    const isWaiting = "select 1 from payout_batch where id = $1 and approval = 'waiting'";
    const isOpen = async (): Promise<boolean> => (await rowsOf(world, isWaiting, [batch_id])).length > 0;
    const said = { by: 'amina', why: 'a call with the merchant' };
    await operate((deps) => decideIfOpen(isOpen, () => approvePayout(deps, batch_id, said)));
    const batch = await later(client, async () => {
      const { json } = await readBatch(world, merchant, batch_id);
      return json.status === 'completed' ? json : undefined;
    });
    return {
      moved: [timesOf(creditsOf(world, phone_number)), await balances(world, merchant)],
      owed: [[1], { available: 98_00n, reserved: 0n }],
      told: batch.beneficiaries.map((line: { transaction_id: string }) => [line.transaction_id, 'completed']),
    };
  },
  async 'a refund to a card'(client, merchant) {
    const paid = await readyToPay(world, merchant, 'frictionless', { minted });
    await submitCard(world, paid);
    await untilStatus(world, paid, 'approved');
    const { refund_id } = await refunded(client, merchant, paid);
    await later(client, async () =>
      (await readBack(world, merchant, refund_id)).status === 'completed' ? true : undefined,
    );
    const told = [[paid.transaction_id, 'refunded']] as const;
    return { moved: timesOf(creditsOnCard(world, paid)), owed: [1], told };
  },
  async 'a refund to a phone'(client, merchant) {
    const paid = await paidByPhone(world, merchant, '01');
    const { refund_id } = await refunded(client, merchant, paid);
    await later(client, async () =>
      (await readBack(world, merchant, refund_id)).status === 'completed' ? true : undefined,
    );
    const told = [[paid.transaction_id, 'refunded']] as const;
    return { moved: timesOf(creditsOf(world, paid.msisdn)), owed: [1], told };
  },
};

describe('whichever step is the last', () => {
  describe.each(Object.entries(FLOWS))('%s', (_name, flow) => {
    test.each(['before', 'after'] as const)('%s it', async (when) => {
      for (let step = 1; (await live({ step, when }, flow)) !== 'lived on'; step += 1);
    });
  });

  /** One life of a mortal, until everything that it began is over. Returns how it ended. */
  async function live(death: Death, flow: Flow): Promise<string> {
    const merchant = await world.merchant();
    const heard: Heard[] = [];
    const mortal = await openMortal(world, heir, death);
    mortals.push(mortal);
    const { moved, owed, told } = await flow(repeating(mortal, heard), merchant, operating(mortal));
    const statesOf = ([transactionId, status]: Ended['told'][number]): Promise<string[]> =>
      later(mortal, async () => {
        const all = hooksAbout(world, transactionId).map(({ body }) => body.status);
        return all.includes(status) ? all : undefined;
      });
    const states = await Promise.all(told.map(statesOf));
    const end = mortal.end() ?? 'lived on';
    expect(moved, end).toEqual(owed);
    for (const each of states) expect(new Set(each).size, `${end}: ${each}`).toBe(each.length);
    if (end === 'lived on') {
      expect(told.every(([, status]) => GOOD.includes(status))).toBe(true);
      // Otherwise nothing was tested.
      expect(death.step).toBeGreaterThan(death.when === 'after' ? 3 : 1);
    }
    for (const { path, options, answer } of heard) {
      const again = await world.call('POST', path, options);
      expect([again.status, again.text], `${end}: ${path}`).toEqual([answer.status, answer.text]);
    }
    expect((await world.gateway.store.auditAll()).findings, end).toEqual([]);
    expect((await world.gateway.store.suspenseSums({})).differences, end).toEqual([]);
    await mortal.rest();
    return end;
  }
});
