/**
 * MTN MoMo collections without HTTP: requests to pay, what becomes of them, and the callbacks they cause.
 * Invariant: a reference is taken at most once, for ever, and moves money at most once; a final status never changes.
 */
import type { Book } from '../carriers/book.ts';
import { type Behaviour, behaviourOf } from '../carriers/endings.ts';
import type { Settings } from '../carriers/settings.ts';
import type { Phones, PromptStatus } from '../phone/phones.ts';
import type { World } from '../world.ts';

export type RequestToPay = {
  readonly reference: string;
  readonly amount: string;
  readonly currency: string;
  readonly externalId: string;
  readonly msisdn: string;
  readonly payerMessage: string;
  readonly payeeNote: string;
  readonly callbackUrl: string | null;
};

/** The status body of MTN's API, field for field; it is also the body of the callback. */
export type CollectionStatus = {
  readonly amount: string;
  readonly currency: string;
  readonly financialTransactionId?: string;
  readonly externalId: string;
  readonly payer: { readonly partyIdType: 'MSISDN'; readonly partyId: string };
  readonly payerMessage: string;
  readonly payeeNote: string;
  readonly status: 'PENDING' | 'SUCCESSFUL' | 'FAILED';
  readonly reason?: string;
};

export type Callback = {
  readonly url: string;
  readonly reference: string;
  readonly bodies: readonly CollectionStatus[];
};

export type Collections = {
  /** `taken_unanswered` is taken too, but its HTTP answer must never come (ending 05). */
  readonly take: (request: RequestToPay) => 'taken' | 'taken_unanswered' | 'duplicate' | 'down';
  readonly find: (reference: string) => CollectionStatus | undefined;
};

export type CollectionsParts = {
  readonly world: World;
  readonly settings: Settings;
  readonly book: Book;
  readonly phones: Phones;
  /** Sends the bodies to the URL in that order, each once. */
  readonly sendCallback: (callback: Callback) => void;
  /** How many finished requests are remembered in full; older ones are answered from the book. */
  readonly remembered?: number;
};

const carrier = 'mtn';

type Open = { status: CollectionStatus; readonly behaviour: Behaviour; readonly callbackUrl: string | null };
type Outcome = { readonly prompt: Exclude<PromptStatus, 'pending'>; readonly reason?: string };

const outcomes = {
  approved: { prompt: 'approved' },
  rejected: { prompt: 'rejected', reason: 'APPROVAL_REJECTED' },
  no_funds: { prompt: 'failed', reason: 'NOT_ENOUGH_FUNDS' },
  locked: { prompt: 'failed', reason: 'PAYMENT_NOT_APPROVED' },
  expired: { prompt: 'expired', reason: 'EXPIRED' },
} as const satisfies Record<string, Outcome>;

function pendingBody(request: RequestToPay): CollectionStatus {
  return {
    amount: request.amount,
    currency: request.currency,
    externalId: request.externalId,
    payer: { partyIdType: 'MSISDN', partyId: request.msisdn },
    payerMessage: request.payerMessage,
    payeeNote: request.payeeNote,
    status: 'PENDING',
  };
}

export function createCollections(parts: CollectionsParts): Collections {
  const { world, settings, book, phones, sendCallback, remembered = 200_000 } = parts;
  const requests = new Map<string, Open>();
  const finished: string[] = [];
  let oldestFinished = 0;
  const forgotten = new Set<string>();
  let transactionNumber = 23_503_452;

  const forgetOldest = () => {
    if (finished.length - oldestFinished <= remembered) return;
    const reference = finished[oldestFinished];
    oldestFinished += 1;
    if (reference !== undefined && requests.delete(reference)) forgotten.add(reference);
    if (oldestFinished > remembered) {
      // Cutting the queue only now and then keeps forgetting O(1) on average.
      finished.splice(0, oldestFinished);
      oldestFinished = 0;
    }
  };
  const notify = (reference: string, open: Open, before: CollectionStatus) => {
    if (open.callbackUrl === null || open.behaviour.callback === 'none') return;
    const last = open.status;
    const bodies = open.behaviour.callback === 'once' ? [last] : [last, before, last];
    sendCallback({ url: open.callbackUrl, reference, bodies });
  };
  const finish = (reference: string, outcome: Outcome) => {
    const open = requests.get(reference);
    if (open === undefined || open.status.status !== 'PENDING') return;
    const before = open.status;
    const msisdn = before.payer.partyId;
    if (outcome.reason === undefined) {
      transactionNumber += 1;
      open.status = { ...before, financialTransactionId: String(transactionNumber), status: 'SUCCESSFUL' };
      const { amount, externalId: external_id } = before;
      const currency = before.currency.toLowerCase();
      book.record({ carrier, reference, kind: 'debit', msisdn, amount, currency, external_id, at: world.now() });
    } else {
      open.status = { ...before, status: 'FAILED', reason: outcome.reason };
    }
    phones.settle(msisdn, reference, outcome.prompt);
    finished.push(reference);
    forgetOldest();
    notify(reference, open, before);
  };
  const decideLater = (reference: string, behaviour: Behaviour) => {
    const { decision } = behaviour;
    if (decision === 'approve') world.schedule(settings.auto_approve_ms, () => finish(reference, outcomes.approved));
    else if (decision === 'no_funds') world.schedule(settings.decline_ms, () => finish(reference, outcomes.no_funds));
    else if (decision === 'reject') world.schedule(settings.decline_ms, () => finish(reference, outcomes.rejected));
    else world.schedule(settings.prompt_life_ms, () => finish(reference, outcomes.expired));
  };
  const prompt = (request: RequestToPay, behaviour: Behaviour) => {
    phones.push({
      id: request.reference,
      carrier,
      msisdn: request.msisdn,
      amount: request.amount,
      currency: request.currency.toLowerCase(),
      merchant: request.payeeNote,
      text: request.payerMessage,
      at: world.now(),
      expires_at: world.now() + settings.prompt_life_ms,
      decides_by_itself: behaviour.decision !== 'person',
      onVerdict: (verdict) =>
        finish(
          request.reference,
          verdict === 'approve' ? outcomes.approved : verdict === 'reject' ? outcomes.rejected : outcomes.locked,
        ),
    });
  };

  return {
    take: (request) => {
      const { reference, callbackUrl } = request;
      const behaviour = behaviourOf(request.msisdn);
      if (behaviour.answer === 'down') return 'down';
      if (requests.has(reference) || forgotten.has(reference)) return 'duplicate';
      requests.set(reference, { status: pendingBody(request), behaviour, callbackUrl });
      prompt(request, behaviour);
      decideLater(reference, behaviour);
      return behaviour.answer === 'hangs' ? 'taken_unanswered' : 'taken';
    },
    find: (reference) => {
      const open = requests.get(reference);
      if (open !== undefined) return open.status;
      // A debit must stay findable for ever: a gateway that hears "not found" would call it not taken.
      const debit = book.find(carrier, reference);
      if (debit === undefined) return undefined;
      const { amount, msisdn, external_id } = debit;
      const currency = debit.currency.toUpperCase();
      const request = { reference, amount, currency, externalId: external_id, msisdn, payerMessage: '', payeeNote: '' };
      return { ...pendingBody({ ...request, callbackUrl: null }), status: 'SUCCESSFUL' };
    },
  };
}
