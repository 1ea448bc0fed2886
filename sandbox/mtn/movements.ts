/**
 * What MTN's two products have in common, without HTTP: requests that are taken, decided once, reported by callback, and kept.
 * Invariant: a reference is taken at most once, for ever, and moves money at most once; a final status never changes.
 */
import type { Book } from '../carriers/book.ts';
import type { Behaviour } from '../carriers/endings.ts';
import type { Settings } from '../carriers/settings.ts';
import { type Diary, noDiary } from '../diary.ts';
import type { Phones } from '../phone/phones.ts';
import type { World } from '../world.ts';

/** The party whose number a request names: the payer, who is charged, or the payee, who receives. */
export type PartyName = 'payer' | 'payee';

export type MoneyRequest = {
  readonly reference: string;
  readonly amount: string;
  readonly currency: string;
  readonly externalId: string;
  readonly msisdn: string;
  readonly payerMessage: string;
  readonly payeeNote: string;
  readonly callbackUrl: string | null;
};

/** The state of a request, as MTN's status body reports it beside the request's own fields. */
type Standing = {
  readonly status: 'PENDING' | 'SUCCESSFUL' | 'FAILED';
  readonly financialTransactionId?: string;
  readonly reason?: string;
};

export type Callback = {
  readonly url: string;
  readonly reference: string;
  /** JSON. */
  readonly bodies: readonly string[];
};

/** A product as its routes see it. */
export type Movements = {
  /** `taken_unanswered`: the request is taken, but its HTTP answer must never come (ending 05). */
  readonly take: (request: MoneyRequest) => 'taken' | 'taken_unanswered' | 'duplicate' | 'down';
  /** MTN's status body as JSON; it is also the body of the callback. */
  readonly find: (reference: string) => string | undefined;
};

export type MovementsParts = {
  readonly world: World;
  readonly settings: Settings;
  readonly book: Book;
  readonly phones: Phones;
  /** Sends the bodies to the URL in that order, each once. */
  readonly sendCallback: (callback: Callback) => void;
  /** Records what is taken and decided. */
  readonly diary?: Diary;
  /** How many finished requests are kept in full; older ones are answered from the book. */
  readonly remembered?: number;
};

/** What distinguishes one product from the other. */
export type Product<D> = {
  readonly party: PartyName;
  readonly kind: 'debit' | 'credit';
  readonly behaviourOf: (msisdn: string) => Behaviour<D>;
  /**
   * Decides a request that has been taken, now or later, by calling `finish`: with one of MTN's reasons the request fails,
   * without one the money moves. `finish` returns whether it was the first to decide. Returns `never` if nothing ever will.
   */
  readonly decide: (request: MoneyRequest, decision: D, finish: (reason?: string) => boolean) => 'later' | 'never';
};

export const carrier = 'mtn';

type Open<D> = { readonly request: MoneyRequest; readonly behaviour: Behaviour<D> };

export function createMovements<D>(parts: MovementsParts, product: Product<D>): Movements {
  const { world, book, sendCallback, diary = noDiary, remembered = 200_000 } = parts;
  const { party, kind } = product;
  // A decided request is kept as the text of its answer: it no longer changes, and one string is the cheapest to keep.
  const requests = createMemory<Open<D> | string>(remembered);
  const taken = diary.chapter<MoneyRequest>(`mtn ${kind} taken`);
  const decided = diary.chapter<Decided>(`mtn ${kind} decided`);
  let transactionNumber = kind === 'debit' ? 23_503_452 : 61_208_117;

  const bodyOf = (request: Omit<MoneyRequest, 'callbackUrl'>, standing: Standing): string => {
    const named = { partyIdType: 'MSISDN', partyId: request.msisdn };
    // Spelled out field by field: an object that is merged from others takes much longer to serialise.
    return JSON.stringify({
      amount: request.amount,
      currency: request.currency,
      externalId: request.externalId,
      payer: party === 'payer' ? named : undefined,
      payee: party === 'payee' ? named : undefined,
      payerMessage: request.payerMessage,
      payeeNote: request.payeeNote,
      status: standing.status,
      financialTransactionId: standing.financialTransactionId,
      reason: standing.reason,
    });
  };
  const notify = ({ request, behaviour }: Open<D>, body: string) => {
    const { callbackUrl: url, reference } = request;
    if (url === null || behaviour.callback === 'none') return;
    const bodies = behaviour.callback === 'once' ? [body] : [body, bodyOf(request, PENDING), body];
    sendCallback({ url, reference, bodies });
  };
  const pay = ({ reference, msisdn, amount, currency: upper, externalId: external_id }: MoneyRequest): Standing => {
    transactionNumber += 1;
    const currency = upper.toLowerCase();
    book.record({ carrier, reference, kind, msisdn, amount, currency, external_id, at: world.now() }, partOf(kind));
    return { status: 'SUCCESSFUL', financialTransactionId: String(transactionNumber) };
  };
  const finish = (reference: string, reason: string | undefined): boolean => {
    const open = requests.get(reference);
    if (open === undefined || typeof open === 'string') return false;
    const body = bodyOf(open.request, reason === undefined ? pay(open.request) : { status: 'FAILED', reason });
    decided.note({ reference, body });
    conclude(reference, body);
    notify(open, body);
    return true;
  };
  const conclude = (reference: string, body: string): void => {
    requests.keep(reference, body);
    requests.mayForget(reference);
  };
  const takeUp = (request: MoneyRequest, behaviour: Behaviour<D>): void => {
    const { reference } = request;
    requests.keep(reference, { request, behaviour });
    const when = product.decide(request, behaviour.decision, (reason) => finish(reference, reason));
    // A request that is never decided would stay for ever: it may be forgotten in its turn, as if it were final.
    if (when === 'never') requests.mayForget(reference);
  };

  for (const { reference, body } of decided.past()) {
    conclude(reference, body);
    transactionNumber = Math.max(transactionNumber, numberIn(body));
  }
  // Open requests are decided again, as if they had just been taken; nobody gets a second callback.
  for (const request of taken.past()) {
    if (requests.knows(request.reference)) continue;
    // The process ended between the two records: the money has moved.
    if (book.find(carrier, request.reference, partOf(kind)) !== undefined) {
      transactionNumber += 1;
      const financialTransactionId = String(transactionNumber);
      const body = bodyOf(request, { status: 'SUCCESSFUL', financialTransactionId });
      decided.note({ reference: request.reference, body });
      conclude(request.reference, body);
    } else takeUp(request, product.behaviourOf(request.msisdn));
  }

  return {
    take: (request) => {
      const { reference } = request;
      const behaviour = product.behaviourOf(request.msisdn);
      if (behaviour.answer === 'down') return 'down';
      if (requests.knows(reference)) return 'duplicate';
      taken.note(request);
      takeUp(request, behaviour);
      return behaviour.answer === 'hangs' ? 'taken_unanswered' : 'taken';
    },
    find: (reference) => {
      const kept = requests.get(reference);
      if (kept !== undefined) return typeof kept === 'string' ? kept : bodyOf(kept.request, PENDING);
      // What moved money must stay findable for ever: a gateway that is told "not found" would conclude that it was not taken.
      const entry = book.find(carrier, reference, partOf(kind));
      if (entry === undefined) return undefined;
      const { amount, msisdn, external_id } = entry;
      const currency = entry.currency.toUpperCase();
      const request = { reference, amount, currency, externalId: external_id, msisdn, payerMessage: '', payeeNote: '' };
      return bodyOf(request, { status: 'SUCCESSFUL' });
    },
  };
}

/** The outcome of a request, as recorded: `body` is what status and callback report from then on. */
type Decided = { readonly reference: string; readonly body: string };

/** The transaction number in a body that reports that money moved; 0 if there is none. */
function numberIn(body: string): number {
  const { financialTransactionId = 0 } = JSON.parse(body);
  return Number(financialTransactionId);
}

const PENDING: Standing = { status: 'PENDING' };

/** Entries by reference: none is forgotten before it may be, and a reference is known for ever. */
function createMemory<T>(remembered: number) {
  const kept = new Map<string, T>();
  const forgotten = new Set<string>();
  const forgettable: string[] = [];
  let oldest = 0;

  return {
    get: (reference: string) => kept.get(reference),
    knows: (reference: string) => kept.has(reference) || forgotten.has(reference),
    keep: (reference: string, what: T) => {
      kept.set(reference, what);
    },
    /** From now on the entry may be forgotten, once more than `remembered` others have come after it. */
    mayForget: (reference: string) => {
      forgettable.push(reference);
      if (forgettable.length - oldest <= remembered) return;
      const gone = forgettable[oldest];
      oldest += 1;
      if (gone !== undefined && kept.delete(gone)) forgotten.add(gone);
      if (oldest > remembered) {
        // Trimming the queue only now and then keeps forgetting O(1) on average.
        forgettable.splice(0, oldest);
        oldest = 0;
      }
    },
  };
}

/** References are separate for each product, so that the same one may occur in both. */
function partOf(kind: 'debit' | 'credit'): string | undefined {
  return kind === 'debit' ? undefined : 'transfer';
}
