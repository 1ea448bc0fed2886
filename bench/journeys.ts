/**
 * The journeys that a load repeats: a whole payment, a session alone, a status read, a payment from a wallet.
 *
 * Invariant: a journey only makes calls and continues with their answers; timing, counting and noting failures are the job of
 * `Calls`, and the same for all.
 */

/** A JSON answer that is not a failure. */
export type Said = Readonly<Record<string, unknown>>;

/** One connection's calls. Each resolves with the answer, or with undefined if it failed, which has then been noted. */
export interface Calls {
  /** `what` names the figure. */
  post(what: string, path: string, bearer: string, body: object): Promise<Said | undefined>;
  get(what: string, path: string, bearer: string): Promise<Said | undefined>;
}

export interface Wallet {
  readonly number: string;
  readonly pin: string;
}

export interface JourneyOrder {
  /** `key_id:secret`, one per merchant. */
  readonly credentials: readonly string[];
  readonly receiverPort: number;
  /** Keeps the phone numbers and references of several runs apart. */
  readonly run: number;
  /** The wallets that pay, for journeys that pay from wallets. */
  readonly wallets?: readonly Wallet[];
}

/** Makes one journey. Resolves with the transaction that its webhook names, or undefined if it failed. `number` starts at 1. */
export type Travel = (calls: Calls, number: number) => Promise<string | undefined>;

export interface Journey {
  /** Whether a journey is complete only once its webhook has been acknowledged. */
  readonly isTold: boolean;
  /** Prepares what the journeys share. */
  prepare(order: JourneyOrder, calls: Calls): Promise<Travel>;
}

export type JourneyName = 'payment' | 'session' | 'read' | 'wallet';

export const JOURNEYS: Readonly<Record<JourneyName, Journey>> = {
  payment: { isTold: true, prepare: async (order) => (calls, number) => payByPhone(order, calls, number) },
  session: { isTold: false, prepare: async (order) => (calls, number) => mint(order, calls, number) },
  read: { isTold: false, prepare: prepareReads },
  wallet: { isTold: true, prepare: async (order) => (calls, number) => payByWallet(order, calls, number) },
};

/** Below the amount from which a wallet payment requires a one-time code. */
const AMOUNT = '5.00';
/** 256 payments are read in turn. */
const READ_IN_TURN = 256;

async function mint(order: JourneyOrder, calls: Calls, number: number): Promise<string | undefined> {
  const minted = await calls.post(
    'mint',
    '/internal/sessions/create',
    order.credentials[number % order.credentials.length] ?? '',
    { amount: AMOUNT, currency: 'usd', customer_reference: `bench-${order.run}-${number}` },
  );
  return minted === undefined ? undefined : String(minted.session_token);
}

/** Mints and collects; returns the token and the collected payment. */
async function collect(
  order: JourneyOrder,
  calls: Calls,
  number: number,
  method: object,
): Promise<{ readonly token: string; readonly payment: Said } | undefined> {
  const token = await mint(order, calls, number);
  if (token === undefined) return undefined;
  const payment = await calls.post('collect', '/payments/collect', token, {
    user_info: 'full',
    payment_method_info: 'full',
    fee_covered_by: 'buyer',
    delivery_behaviour: 'direct_delivery',
    notify_url: `http://127.0.0.1:${order.receiverPort}/hook`,
    ...method,
  });
  return payment === undefined ? undefined : { token, payment };
}

/** Numbers that end in 01 approve by themselves. */
function phoneOf({ run }: JourneyOrder, number: number): string {
  return `+24381${String((run * 1_000_000 + number) % 100_000).padStart(5, '0')}01`;
}

async function payByPhone(order: JourneyOrder, calls: Calls, number: number): Promise<string | undefined> {
  const phone = phoneOf(order, number);
  const collected = await collect(order, calls, number, { payment_method: 'mobile_money', phone_number: phone });
  if (collected === undefined) return undefined;
  const submitted = await calls.post('submit', '/payments/submit', collected.token, {
    payment_id: collected.payment.payment_id,
    payment_method_id: 'mobile_money',
    mobile_money_phone_number: phone,
  });
  return submitted === undefined ? undefined : String(submitted.transaction_id);
}

async function payByWallet(order: JourneyOrder, calls: Calls, number: number): Promise<string | undefined> {
  const wallets = order.wallets ?? [];
  const wallet = wallets[number % wallets.length];
  if (wallet === undefined) throw new Error('a load of wallet payments needs wallets');
  const collected = await collect(order, calls, number, {
    payment_method: 'wallet',
    wallet_number: wallet.number,
    wallet_pin: wallet.pin,
  });
  if (collected === undefined) return undefined;
  const submitted = await calls.post('submit', '/payments/submit', collected.token, {
    payment_id: collected.payment.payment_id,
    payment_method_id: 'wallet',
    ewallet_number: wallet.number,
    ewallet_pin: wallet.pin,
  });
  return submitted === undefined ? undefined : String(submitted.transaction_id);
}

/** Reads the status of payments that are waiting, each with its own session. */
async function prepareReads(order: JourneyOrder, calls: Calls): Promise<Travel> {
  const read: { readonly token: string; readonly path: string }[] = [];
  for (let number = 1; number <= READ_IN_TURN; number += 1) {
    const method = { payment_method: 'mobile_money', phone_number: phoneOf(order, number) };
    const collected = await collect(order, calls, number, method);
    if (collected === undefined) throw new Error('there is no payment to read');
    read.push({ token: collected.token, path: `/payments/status/${String(collected.payment.transaction_id)}` });
  }
  return async (going, number) => {
    const { path, token } = read[number % read.length] ?? { path: '', token: '' };
    return (await going.get('read', path, token)) === undefined ? undefined : path;
  };
}
