/**
 * The form that the customer's browser posts to the gateway after the issuer's challenge.
 * Invariant: it carries the network's own field names and the gateway's contract side by side, signed by the contract's
 * rule: HMAC-SHA256 over `timestamp.nonce.order_id.transaction_id.result`, in hexadecimal.
 */
import { createHmac, randomBytes } from 'node:crypto';

/** The default secret that the sandbox shares with a gateway. It protects nothing. */
export const sandboxCallbackSecret = 'sandbox-cardnet-callback-secret';

export type CallbackResult = 'AUTHENTICATED' | 'REJECTED' | 'UNAVAILABLE';

/** The fields by name, in the form's order. */
export type CallbackFields = Readonly<Record<string, string>>;

export type Answered = {
  readonly orderId: string;
  readonly transactionId: string;
  readonly result: CallbackResult;
  /** Milliseconds since the epoch. */
  readonly at: number;
};

export function callbackFields({ orderId, transactionId, result, at }: Answered, secret: string): CallbackFields {
  const timestamp = String(Math.floor(at / 1_000));
  const nonce = randomBytes(16).toString('hex');
  const signed = [timestamp, nonce, orderId, orderId, result].join('.');
  return {
    'order.id': orderId,
    'transaction.id': transactionId,
    'response.gatewayRecommendation': result === 'AUTHENTICATED' ? 'PROCEED' : 'DO_NOT_PROCEED',
    // The gateway names its order by its own transaction, so both of the contract's fields hold the order's id.
    order_id: orderId,
    transaction_id: orderId,
    result,
    timestamp,
    nonce,
    signature: createHmac('sha256', secret).update(signed).digest('hex'),
  };
}
