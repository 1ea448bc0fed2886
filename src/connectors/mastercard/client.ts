/**
 * Mastercard Gateway's REST API in its own terms: sessions, transactions and orders.
 *
 * Invariant: a request is sent once, under the ids that it was given. Nothing here throws, and no body, card or credential is
 * logged.
 */

import type { Platform } from '../../platform/platform.ts';
import { type CallResult, type JsonObject, resultOf } from '../response.ts';

export interface MastercardConfig {
  /** Without a slash at the end, for example `https://ap-gateway.mastercard.com`. */
  readonly baseUrl: string;
  readonly merchantId: string;
  readonly apiPassword: string;
  readonly apiVersion: number;
  /** Where browsers load the hosted form from: `baseUrl`, except in a sandbox. Without a slash at the end. */
  readonly formUrl: string;
}

export interface MastercardClient {
  createSession(body: JsonObject): Promise<CallResult>;
  updateSession(sessionId: string, body: JsonObject): Promise<CallResult>;
  readSession(sessionId: string): Promise<CallResult>;
  /** An operation on that transaction: sent once. `timeout` in milliseconds. */
  operate(orderId: string, transactionId: string, body: JsonObject, timeout: number): Promise<CallResult>;
  readTransaction(orderId: string, transactionId: string): Promise<CallResult>;
  readOrder(orderId: string): Promise<CallResult>;
}

/** Milliseconds for reads and sessions: nothing is lost when they are late, and the caller can try again. */
const READ_TIMEOUT_MS = 5_000;

/** Bytes. Their answers are a few kilobytes; the challenge's HTML is the longest part. A larger answer is cut, and unreadable. */
const MAX_ANSWER_BYTES = 262_144;

/** Makes a client of one merchant account at the network. Its calls never reject: what went wrong is in their result. */
export function createMastercardClient(
  config: MastercardConfig,
  { outbound }: Pick<Platform, 'outbound'>,
): MastercardClient {
  const merchant = encodeURIComponent(config.merchantId);
  const base = `${config.baseUrl}/api/rest/version/${config.apiVersion}/merchant/${merchant}`;
  const basic = Buffer.from(`merchant.${config.merchantId}:${config.apiPassword}`).toString('base64');
  const authorization = `Basic ${basic}`;

  const ask = async (method: 'GET' | 'POST' | 'PUT', path: string, body: JsonObject | undefined, timeout: number) =>
    resultOf(
      await outbound.request({
        method,
        url: base + path,
        headers: { authorization, accept: 'application/json', ...(body && { 'content-type': 'application/json' }) },
        ...(body && { body: JSON.stringify(body) }),
        timeout,
        trust: 'upstream',
        answerLimit: MAX_ANSWER_BYTES,
      }),
    );
  const session = (id: string): string => `/session/${encodeURIComponent(id)}`;
  const order = (id: string): string => `/order/${encodeURIComponent(id)}`;
  const transaction = (orderId: string, id: string): string =>
    `${order(orderId)}/transaction/${encodeURIComponent(id)}`;

  return {
    createSession: (body) => ask('POST', '/session', body, READ_TIMEOUT_MS),
    updateSession: (id, body) => ask('PUT', session(id), body, READ_TIMEOUT_MS),
    readSession: (id) => ask('GET', session(id), undefined, READ_TIMEOUT_MS),
    operate: (orderId, id, body, timeout) => ask('PUT', transaction(orderId, id), body, timeout),
    readTransaction: (orderId, id) => ask('GET', transaction(orderId, id), undefined, READ_TIMEOUT_MS),
    readOrder: (id) => ask('GET', order(id), undefined, READ_TIMEOUT_MS),
  };
}
