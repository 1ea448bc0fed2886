/**
 * Texts over plain HTTP: POST `{to, text}` with a Bearer token to an address that the operator chose.
 *
 * Invariant: a text is posted at most once, and neither it nor the number it goes to is ever logged: the text holds a
 * one-time code.
 */

import type { Platform } from '../../platform/platform.ts';
import type { TextSender } from '../connector.ts';

export interface SmsHttpConfig {
  readonly url: string;
  readonly token: string;
}

/** Milliseconds. The caller waits while the customer looks at the page; a provider that needs longer is `unknown`. */
const SEND_TIMEOUT_MS = 5_000;

/** Bytes; only the status line matters. */
const MAX_ANSWER_BYTES = 16_384;

/** Any 2xx is `sent`; a 3xx or 4xx is `not_sent`; after a 5xx or silence the text may still have been sent (`unknown`). */
export function createSmsHttp(config: SmsHttpConfig, doors: Pick<Platform, 'outbound' | 'log'>): TextSender {
  const headers = { authorization: `Bearer ${config.token}`, 'content-type': 'application/json' };
  return {
    async sendText({ to, text }) {
      const answer = await doors.outbound.request({
        method: 'POST',
        url: config.url,
        headers,
        body: JSON.stringify({ to, text }),
        timeout: SEND_TIMEOUT_MS,
        trust: 'upstream',
        answerLimit: MAX_ANSWER_BYTES,
      });
      if (answer.kind !== 'answered') {
        doors.log.warn('text_unanswered', { outcome: answer.kind, reason: answer.reason });
        return answer.kind === 'lost' ? 'unknown' : 'not_sent';
      }
      if (answer.status >= 200 && answer.status < 300) return 'sent';
      doors.log.warn('text_refused', { status: answer.status });
      return answer.status >= 300 && answer.status < 500 ? 'not_sent' : 'unknown';
    },
  };
}
