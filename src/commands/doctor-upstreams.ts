/**
 * What `doctor` checks of the upstreams: are they configured, do they answer, do they accept our credentials?
 *
 * Invariant: it cannot move money: an upstream gets one inquiry about a reference that was never used.
 */

import { type Config, type Warning, warningsOf } from '../config.ts';
import type { CardConnector, CollectConnector, PayoutConnector } from '../connectors/connector.ts';
import type { InquiryAnswer } from '../domain/answer.ts';
import { makeId } from '../domain/ids.ts';
import { systemClock } from '../platform/clock.ts';
import { createLog } from '../platform/log.ts';
import type { Outbound, OutboundAnswer } from '../platform/platform.ts';
import { systemRandom } from '../platform/random.ts';
import { type Check, fail, looking, ok, warn } from './doctor-check.ts';

type Connector = CollectConnector | PayoutConnector | CardConnector;

/** The configuration's warning about something, if there is one; otherwise `well`. */
export function checkWarning(config: Config, about: Warning['about'], name: string, well: string): Check {
  const found = warningsOf(config).find((warning) => warning.about === about);
  return found === undefined ? ok(name, well) : warn(name, found.detail);
}

/** Reads the routes of numbers as `serve` does at its start, which a wrong file would stop; then inquires at every upstream. */
export function checkCarriers(config: Config): Promise<readonly Check[]> {
  return looking('carriers', async () => {
    const [{ openConnectors }, { createOutbound }] = await Promise.all([
      import('../connectors/registry.ts'),
      import('../platform/outbound.ts'),
    ]);
    const outbound = createOutbound({ allowLoopback: true, requireHttps: false });
    const heard = listening(outbound);
    try {
      const doors = {
        outbound: heard.outbound,
        clock: systemClock(),
        log: createLog({ level: 'silent', destination: { write: () => undefined } }),
      };
      const { all, names } = openConnectors(config, doors);
      const found = [checkWarning(config, 'carriers', 'carriers', names.join(', '))];
      // One after the other, so that the answers recorded are this connector's.
      for (const connector of all) {
        heard.clear();
        found.push(connectorCheck(connector.name, await ask(connector), heard.answers, config.mode));
      }
      return found;
    } finally {
      await outbound.close();
    }
  });
}

/** Inquires about a reference that no order has ever had. */
function ask(connector: Connector): Promise<InquiryAnswer> {
  const random = systemRandom();
  const idOf = (prefix: 'att' | 'txn'): string => makeId(prefix, 0, random.bytes(16), 0);
  const attemptId = idOf('att');
  const reference = connector.referenceFor(attemptId);
  return connector.inquire({ reference, attemptId, orderId: idOf('txn'), amountMinor: 1n, currency: 'usd' });
}

/** What an inquiry about an unused reference says about the connection to the upstream: `not_found` is the best answer. */
export function connectorCheck(
  name: string,
  answer: InquiryAnswer,
  heard: readonly OutboundAnswer[],
  mode: Config['mode'],
): Check {
  if (answer.kind === 'not_found') return ok(name, 'it answers, and accepts our credentials');
  const answered = heard.flatMap((answer) => (answer.kind === 'answered' ? [answer.status] : []));
  if (answered.length === 0) {
    const why =
      heard.flatMap((answer) => (answer.kind === 'answered' ? [] : [answer.reason]))[0] ?? 'no request was made';
    if (mode === 'sandbox') return warn(name, `it cannot be reached (${why}): start the sandbox (npm start)`);
    return fail(
      name,
      `it cannot be reached (${why}): check its base URL, the name servers and this machine's outbound connections`,
    );
  }
  const refused = answered.find((status) => status === 401 || status === 403);
  if (refused !== undefined) {
    const wayOut = 'check its keys and, if it has one, its list of allowed addresses';
    return fail(name, `it rejects our credentials (HTTP ${refused}): ${wayOut}`);
  }
  const said = answer.kind === 'unknown' ? answer.reason : answer.kind;
  return warn(name, `it answers, but not as expected (${said}): see its status page, and try again later`);
}

/** Records the responses, which tell why an inquiry's answer is what it is. */
function listening(outbound: Outbound) {
  const answers: OutboundAnswer[] = [];
  return {
    answers,
    clear: () => void answers.splice(0),
    outbound: {
      ...outbound,
      request: async (order: Parameters<Outbound['request']>[0]): Promise<OutboundAnswer> => {
        const answer = await outbound.request(order);
        answers.push(answer);
        return answer;
      },
    },
  };
}

/** Checks only whether the text provider can be reached, because any request could send a text. Texts carry one-time codes. */
export function checkTexts(config: Config): Promise<readonly Check[]> {
  return looking('texts', async () => {
    const { sms, mode } = config;
    if (sms === undefined) return [checkWarning(config, 'texts', 'texts', '')];
    const { whyUnreachable } = await import('../platform/reach.ts');
    const why = await whyUnreachable(sms.url);
    const host = new URL(sms.url).host;
    if (why === undefined) return [ok('texts', `one-time codes are sent through ${host}, which can be reached`)];
    if (mode === 'sandbox') return [warn('texts', `${host} cannot be reached (${why}): start the sandbox (npm start)`)];
    return [fail('texts', `${host} cannot be reached (${why}): check SMS_URL and this machine's outbound connections`)];
  });
}
