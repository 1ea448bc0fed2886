/**
 * A merchant that pays people: sends batch after batch over HTTP, each of them under several sessions and one
 * Idempotency-Key, and keeps everything that it was told, so that the gateway can be held to it.
 *
 * Invariant: every batch has a reference and every mobile-money line a number of its own, so that books can be
 * compared.
 */
import { makeWalletNumber } from '../../src/domain/wallet.ts';
import type { Random } from '../../src/platform/platform.ts';
import { command, type Environment } from './processes.ts';
import { type Hook, type Receiver, transactionsOf } from './receiver.ts';
import { findSecrets } from './secrets-in-logs.ts';
import type { Merchant, ShopWallet } from './shop.ts';
import { type Answer, type ClientOptions, openClient, type SteadyClient, type Step } from './steady-client.ts';

export type LineEnding = 'completed' | 'failed';

export interface PaidLine {
  /** The number or the wallet that receives. */
  readonly beneficiary: string;
  readonly mode: 'mobile_money' | 'wallet';
  readonly amount: string;
  /** How it must end. */
  readonly ending: LineEnding;
  /** The fee on top of its amount, as the gateway said. */
  fee: string;
  transaction_id: string;
}

/** One batch. */
export interface Payday {
  readonly reference: string;
  readonly lines: readonly PaidLine[];
  /** The same call under the same key, once per session. */
  readonly sends: Step[];
  batch_id: string;
}

export interface Payroll {
  readonly merchant: Merchant;
  readonly receiver: Receiver;
  /** The merchant's opening balance, in cents. */
  readonly opening: bigint;
  readonly paydays: readonly Payday[];
  /** Answers that no fault explains, and answers that differ from the first under the same key. */
  readonly wrongs: readonly string[];
  /** How often each call got each answer: for the report. */
  readonly seen: ReadonlyMap<string, number>;
  /** Sends a batch, until all of its sessions have been answered. */
  send(batch: BatchWish): Promise<Payday>;
  /** Sends a step again, unchanged; records what differs. */
  replay(step: Step): Promise<void>;
  /** The status read of a line; undefined when the gateway does not know it. */
  status(line: PaidLine): Promise<string | undefined>;
  /** Every line whose batch was acknowledged. */
  lines(): readonly PaidLine[];
  /** How many lines the merchant has not yet been told the end of. */
  open(): number;
}

export interface BatchWish {
  readonly mode: PaidLine['mode'];
  /** How many lines. A wallet batch has at most each wallet of the world once, and as many that do not exist. */
  readonly lines: number;
}

export interface PayrollOptions extends ClientOptions {
  readonly merchant: Merchant;
  readonly receiver: Receiver;
  readonly opening: bigint;
  readonly wallets: readonly ShopWallet[];
  readonly random: Random;
  /** Endings of mobile-money numbers, drawn evenly. */
  readonly kinds: readonly (keyof typeof ENDINGS)[];
  /** How many sessions send each batch at once; one if absent. */
  readonly sessions?: number;
  /** Keeps the numbers of several payrolls in one world apart: 0 to 9. */
  readonly payroll?: number;
}

/** How payouts to these numbers end (contract §11). */
const ENDINGS = {
  '00': 'completed',
  '01': 'completed',
  '02': 'failed',
  '03': 'failed',
  '05': 'completed',
  '07': 'completed',
  '08': 'completed',
} as const;

const FUNDS = '200000.00';
export const FUNDS_CENTS = 20_000_000n;

/** Credits a merchant's balance to pay out from, and sets a fee for payouts. */
export async function fund(env: Environment, merchant: Merchant): Promise<void> {
  const account = ['--merchant', merchant.merchant_id, '--currency', 'usd'];
  await command(env, 'balance', 'credit', ...account, '--amount', FUNDS);
  await command(env, 'fee', 'set', ...account, '--method', 'payout_mobile_money', '--rate', '1.5', '--fixed', '0.07');
}

export function openPayroll(options: PayrollOptions): Payroll {
  const { merchant, receiver, opening, sessions = 1 } = options;
  const client = openClient(options);
  const paydays: Payday[] = [];
  const draw = drawLines(options);
  let token = '';
  let made = 0;

  const mint = async (reference: string, session: number): Promise<string> => {
    const step: Step = {
      path: '/internal/sessions/create',
      bearer: `${merchant.key_id}:${merchant.secret}`,
      key: `${reference}-session-${session}`,
      body: JSON.stringify({
        amount: '1.00',
        currency: 'usd',
        customer_reference: reference,
        scope: 'payout',
        // The gateway's clock may run faster than ours, and its calls are sent again when all lines have ended.
        ttl_seconds: 86_400,
      }),
    };
    const minted = doneOr(step, await client.post(step)) as { session_token: string };
    return minted.session_token;
  };

  const acknowledged = (): readonly PaidLine[] => paydays.flatMap(({ lines }) => lines);

  return {
    ...client,
    merchant,
    receiver,
    opening,
    paydays,
    async send(batch) {
      const reference = `payroll-${options.payroll ?? 0}-${made}`;
      made += 1;
      const lines = draw(batch);
      const tokens = await Promise.all(Array.from({ length: sessions }, (_, session) => mint(reference, session)));
      token = tokens[0] ?? '';
      const body = sendBody(reference, batch, lines, receiver.url);
      const sends = tokens.map((bearer): Step => ({ path: '/payments/send', bearer, key: reference, body }));
      const [answer, ...others] = await Promise.all(sends.map(async (step) => doneOr(step, await client.post(step))));
      const payday: Payday = { reference, lines, sends, batch_id: '' };
      for (const _other of others.filter((other) => JSON.stringify(other) !== JSON.stringify(answer))) {
        client.wrongs.push(`${reference}: two sessions were answered differently under one key`);
      }
      learn(payday, answer as SendAnswer, client);
      paydays.push(payday);
      return payday;
    },
    async status({ transaction_id }) {
      const { status, text } = await client.get(`/payments/status/${transaction_id}`, token);
      if (status === 404 || status === 401) return undefined;
      if (status !== 200) throw new Error(`a status read answered ${status} ${text}`);
      return (JSON.parse(text) as { status: string }).status;
    },
    lines: acknowledged,
    open() {
      const told = transactionsOf(receiver.hooks.filter(isFinalHook));
      return acknowledged().filter((line) => !told.has(line.transaction_id)).length;
    },
  };
}

/** Whether a webhook tells of a line's end. */
export function isFinalHook({ body: { status } }: Hook): boolean {
  return status === 'completed' || status === 'failed';
}

/** Resolves when the merchant has been told the end of `count` of these batches' lines; all of them if absent. */
export function settled({ receiver }: Payroll, paydays: readonly Payday[], count?: number): Promise<void> {
  const ids = new Set(paydays.flatMap(({ lines }) => lines.map(({ transaction_id }) => transaction_id)));
  return receiver.until((hooks) => {
    const ended = hooks.filter((hook) => isFinalHook(hook) && ids.has(hook.body.transaction_id));
    return transactionsOf(ended).size >= (count ?? ids.size);
  });
}

interface SendAnswer {
  readonly batch_id: string;
  readonly beneficiaries: readonly {
    readonly phone_number?: string;
    readonly wallet_number?: string;
    readonly amount: string;
    readonly fee_amount: string;
    readonly transaction_id: string;
  }[];
}

/** What no log may contain, by its form: a payroll has too many numbers to look for each. */
const SECRET_FORMS = {
  'session token': /sess_[\w-]{20}/,
  'phone number': /(?<!\d)24381\d{7}(?!\d)/,
};

/** The kinds of secrets found in what gateways have printed. */
export function secretsInLogs(text: string, { secret, webhook_secret }: Merchant): string[] {
  const own = { 'merchant secret': [secret], 'webhook secret': [webhook_secret.replace(/^whsec_/, '')] };
  const forms = Object.entries(SECRET_FORMS).flatMap(([kind, form]) => (form.test(text) ? [kind] : []));
  return [...findSecrets(text, own), ...forms];
}

/** Records the answer's data for each line; its lines must be those of the call, in the same order. */
function learn(payday: Payday, answer: SendAnswer, client: SteadyClient): void {
  payday.batch_id = answer.batch_id;
  for (const [position, line] of payday.lines.entries()) {
    const said = answer.beneficiaries[position];
    const beneficiary = said?.phone_number ?? said?.wallet_number;
    if (said === undefined || beneficiary !== line.beneficiary || said.amount !== line.amount) {
      client.wrongs.push(`${payday.reference}: line ${position} is not that of the call`);
      continue;
    }
    line.transaction_id = said.transaction_id;
    line.fee = said.fee_amount;
  }
}

/** Draws the lines of batches, one batch after the other. */
function drawLines({ random, kinds, wallets, payroll = 0 }: PayrollOptions): (batch: BatchWish) => PaidLine[] {
  let numbers = 0;
  const amount = (): string => `${1 + random.below(20)}.${String(random.below(100)).padStart(2, '0')}`;
  const line = (mode: PaidLine['mode'], beneficiary: string, ending: LineEnding): PaidLine => {
    return { mode, beneficiary, ending, amount: amount(), fee: '0.00', transaction_id: '' };
  };
  const phone = (): PaidLine => {
    const kind = kinds[random.below(kinds.length)] ?? '01';
    numbers += 1;
    const number = `+24381${payroll}${String(numbers).padStart(4, '0')}${kind}`;
    return line('mobile_money', number, ENDINGS[kind]);
  };
  return ({ mode, lines }) => {
    if (mode === 'mobile_money') return Array.from({ length: lines }, phone);
    const known = wallets.map(({ number }) => line('wallet', number, 'completed'));
    const nobodys = wallets.map(() => line('wallet', makeWalletNumber(1, random.below(1_000_000_000)), 'failed'));
    return [...known, ...nobodys].slice(0, lines);
  };
}

function sendBody(reference: string, { mode }: BatchWish, lines: readonly PaidLine[], notifyUrl: string): string {
  const identifier = mode === 'wallet' ? 'wallet_number' : 'phone_number';
  return JSON.stringify({
    customer_reference: reference,
    currency: 'usd',
    receipt_mode: mode,
    notify_url: notifyUrl,
    beneficiaries: lines.map(({ beneficiary, amount }) => ({ [identifier]: beneficiary, amount })),
  });
}

function doneOr(step: Step, { status, text }: Answer): unknown {
  if (status >= 300) throw new Error(`${step.path} answered ${status} ${text}`);
  return JSON.parse(text);
}
