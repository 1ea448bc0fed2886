/**
 * An unreliable card network that speaks Mastercard's wire format: its answers come when the test lets them,
 * and contradict each other. No honest simulator does that; real networks do.
 *
 * Invariant: it says only what the test told it to, about the order in the request; it counts every request by name.
 */

import { type Arrived, type Reply, startScriptedUpstream } from '../../src/connectors/testing/scripted-upstream.ts';

/** The requests it knows. `look` reads an authentication, `inquire` a payment. */
export type Asked = 'create' | 'bind' | 'form' | 'initiate' | 'authenticate' | 'pay' | 'look' | 'inquire' | 'order';

export interface FickleNetwork {
  readonly url: string;
  /** The issuer's result for its customer from now on. */
  issuer: 'PENDING' | 'SUCCESSFUL' | 'FAILED' | 'TIMED_OUT';
  /** The order's status. */
  status: string;
  /** The gateway code of the next PAY, and of inquiries about it. */
  pays: string;
  /** Answers such requests with `reply` instead of its own answer, until told otherwise. */
  instead(asked: Asked, reply: Reply | undefined): void;
  /** The next such request is not answered before the test says so: with the network's own answer, or with another. */
  hold(asked: Asked): { readonly asked: Promise<void>; answer(reply?: Reply): void };
  /** It has carried out a PAY of that attempt, whatever it answered. */
  took(attemptId: string): void;
  count(asked: Asked): number;
  close(): Promise<void>;
}

const HTML =
  '<form method="POST" action="https://acs.example/challenge"><input type="hidden" name="creq" value="x"></form>';

export function refusal(cause: string, explanation = 'no', field?: string): Reply {
  const error = { cause, explanation, ...(field === undefined ? {} : { field }) };
  return { status: 400, body: JSON.stringify({ result: 'ERROR', error }) };
}

export async function openFickleNetwork(): Promise<FickleNetwork> {
  const counts = new Map<Asked, number>();
  const scripts = new Map<Asked, (request: Arrived) => Reply | Promise<Reply>>();
  const paid = new Map<string, string>();
  /** Orders by their ids, and the newest, which a form that is not bound to an order is about. */
  const orders = new Map<string, Record<string, unknown>>();
  let newest: Record<string, unknown> = {};
  const orderIn = (path: string): Record<string, unknown> =>
    orders.get(/\/order\/([^/]+)/.exec(path)?.[1] ?? '') ?? newest;

  const said = (body: unknown): Reply => ({ status: 200, body: JSON.stringify(body) });
  const authentication = (order: Record<string, unknown>, id: string): Reply => {
    const { issuer } = network;
    const status = issuer === 'TIMED_OUT' ? 'FAILED' : issuer;
    return said({
      order,
      transaction: { ...order, id, authenticationStatus: `AUTHENTICATION_${status}` },
      response: { gatewayRecommendation: status === 'FAILED' ? 'DO_NOT_PROCEED' : 'PROCEED' },
      authentication: {
        ...(issuer === 'PENDING' ? { redirect: { html: HTML } } : {}),
        ...(issuer === 'TIMED_OUT' ? { '3ds2': { statusReasonCode: '14' } } : {}),
      },
    });
  };
  const payment = (order: Record<string, unknown>, id: string, code: string): Reply =>
    said({
      order,
      transaction: { ...order, id, receipt: 'r1' },
      response: { gatewayCode: code },
      result: code === 'APPROVED' ? 'SUCCESS' : 'FAILURE',
    });
  const own = (asked: Asked, { path, body }: Arrived): Reply => {
    const id = path.split('/').at(-1) ?? '';
    const order = orderIn(path);
    switch (asked) {
      case 'create':
        return said({ session: { id: 'SESSION1' } });
      case 'bind':
        newest = JSON.parse(body).order;
        orders.set(String(newest.id), newest);
        return said({ session: { id } });
      case 'form':
        return said({ session: { id }, order, sourceOfFunds: { provided: { card: {} } } });
      case 'initiate': {
        return said({
          order,
          transaction: { authenticationStatus: 'AUTHENTICATION_AVAILABLE' },
          response: { gatewayRecommendation: 'PROCEED' },
        });
      }
      case 'authenticate':
      case 'look':
        return authentication(order, id);
      case 'pay':
        paid.set(id, network.pays);
        return payment(order, id, network.pays);
      case 'inquire': {
        const code = paid.get(id);
        return code === undefined ? refusal('INVALID_REQUEST', 'Unable to find transaction') : payment(order, id, code);
      }
      case 'order':
        return said({ ...order, status: network.status });
    }
  };
  const upstream = await startScriptedUpstream((request) => {
    const asked = nameOf(request);
    counts.set(asked, (counts.get(asked) ?? 0) + 1);
    return scripts.get(asked)?.(request) ?? own(asked, request);
  });
  const network: FickleNetwork = {
    url: upstream.url,
    issuer: 'PENDING',
    status: 'AUTHENTICATED',
    pays: 'APPROVED',
    instead: (asked, reply) => void (reply === undefined ? scripts.delete(asked) : scripts.set(asked, () => reply)),
    hold(asked) {
      let give: (reply: Reply | undefined) => void = () => undefined;
      const given = new Promise<Reply | undefined>((resolve) => {
        give = resolve;
      });
      const arrived = new Promise<void>((resolve) => {
        scripts.set(asked, async (request) => {
          scripts.delete(asked);
          resolve();
          return (await given) ?? own(asked, request);
        });
      });
      return { asked: arrived, answer: (reply) => give(reply) };
    },
    took: (attemptId) => void paid.set(attemptId, 'APPROVED'),
    count: (asked) => counts.get(asked) ?? 0,
    close: () => upstream.close(),
  };
  return network;
}

function nameOf({ method, path, body }: Arrived): Asked {
  if (path.includes('/session')) {
    if (method === 'POST') return 'create';
    return method === 'PUT' ? 'bind' : 'form';
  }
  const isAuthentication = path.endsWith('-3ds');
  if (method === 'PUT') {
    if (!isAuthentication) return 'pay';
    return JSON.parse(body).apiOperation === 'INITIATE_AUTHENTICATION' ? 'initiate' : 'authenticate';
  }
  if (!path.includes('/transaction/')) return 'order';
  return isAuthentication ? 'look' : 'inquire';
}
