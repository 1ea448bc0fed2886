/**
 * MTN MoMo collections without HTTP: requests to pay, and the prompt on the payer's phone that decides them.
 * Invariant: a prompt is settled when its request ends, and a request ends as its prompt was answered.
 */
import { behaviourOf, type Decision } from '../carriers/endings.ts';
import type { PromptStatus, Verdict } from '../phone/phones.ts';
import { carrier, createMovements, type MoneyRequest, type Movements, type MovementsParts } from './movements.ts';

type Outcome = { readonly prompt: Exclude<PromptStatus, 'pending'>; readonly reason?: string };

const outcomes = {
  approved: { prompt: 'approved' },
  rejected: { prompt: 'rejected', reason: 'APPROVAL_REJECTED' },
  no_funds: { prompt: 'failed', reason: 'NOT_ENOUGH_FUNDS' },
  locked: { prompt: 'failed', reason: 'PAYMENT_NOT_APPROVED' },
  expired: { prompt: 'expired', reason: 'EXPIRED' },
} as const satisfies Record<string, Outcome>;

/** How a request ends by what a person did at the prompt. */
const byVerdict: Readonly<Record<Verdict, Outcome>> = {
  approve: outcomes.approved,
  reject: outcomes.rejected,
  locked: outcomes.locked,
};

export function createCollections(parts: MovementsParts): Movements {
  const { world, settings, phones } = parts;

  const prompt = (request: MoneyRequest, decision: Decision, end: (outcome: Outcome) => void) => {
    const asked = {
      id: request.reference,
      carrier,
      msisdn: request.msisdn,
      amount: request.amount,
      currency: request.currency.toLowerCase(),
      merchant: request.payeeNote,
      text: request.payerMessage,
      at: world.now(),
      expires_at: world.now() + settings.prompt_life_ms,
      decides_by_itself: decision !== 'person',
    };
    phones.push(asked, (verdict) => end(byVerdict[verdict]));
  };

  return createMovements(parts, {
    party: 'payer',
    kind: 'debit',
    behaviourOf,
    decide: (request, decision, finish) => {
      const end = (outcome: Outcome) => {
        if (finish(outcome.reason)) phones.settle(request.msisdn, request.reference, outcome.prompt);
      };
      prompt(request, decision, end);
      if (decision === 'approve') world.schedule(settings.auto_approve_ms, () => end(outcomes.approved));
      else if (decision === 'no_funds') world.schedule(settings.decline_ms, () => end(outcomes.no_funds));
      else if (decision === 'reject') world.schedule(settings.decline_ms, () => end(outcomes.rejected));
      else world.schedule(settings.prompt_life_ms, () => end(outcomes.expired));
      return 'later';
    },
  });
}
