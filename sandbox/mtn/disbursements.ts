/**
 * MTN MoMo disbursements without HTTP: transfers to a phone, whose owner is not asked anything.
 * Invariant: a payout shows on the receiver's phone, once.
 */
import { payoutBehaviourOf } from '../carriers/endings.ts';
import { carrier, createMovements, type Movements, type MovementsParts } from './movements.ts';

export function createDisbursements(parts: MovementsParts): Movements {
  const { world, settings, phones } = parts;

  return createMovements(parts, {
    party: 'payee',
    kind: 'credit',
    behaviourOf: payoutBehaviourOf,
    decide: (request, decision, finish) => {
      const { msisdn, amount, payeeNote: note } = request;
      const pay = () => {
        if (finish()) phones.receive(msisdn, { carrier, amount, currency: request.currency.toLowerCase(), note });
      };
      if (decision === 'never') return 'never';
      if (decision === 'pay') world.schedule(settings.auto_approve_ms, pay);
      else if (decision === 'no_account') world.schedule(settings.decline_ms, () => finish('PAYEE_NOT_FOUND'));
      else world.schedule(settings.decline_ms, () => finish('PAYEE_NOT_ALLOWED_TO_RECEIVE'));
      return 'later';
    },
  });
}
