/**
 * What `doctor` looks at of the upstreams: are they configured, do they answer, do they take our credentials?
 *
 * Invariant: no money can move by it: an upstream is asked once about a reference that was never used.
 */

import { type Config, type Warning, warningsOf } from '../config.ts';
import type { CardConnector, CollectConnector, InquiryAnswer, PayoutConnector } from '../connectors/connector.ts';
import { makeId } from '../domain/ids.ts';
import { systemClock } from '../platform/clock.ts';
import { createLog } from '../platform/log.ts';
import type { Outbound, OutboundAnswer } from '../platform/platform.ts';
import { systemRandom } from '../platform/random.ts';
import { type Check, fail, looking, ok, warn } from './doctor-check.ts';

type Connector = CollectConnector | PayoutConnector | CardConnector;

/** What the configuration warns of, or else what is well. */
export function checkWarning(config: Config, about: Warning['about'], name: string, well: string): Check {
  const found = warningsOf(config).find((warning) => warning.about === about);
  return found === undefined ? ok(name, well) : warn(name, found.detail);
}

/** The routes of numbers are read as the start reads them: a file that is wrong stops it. */
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
      // One after the other: what was heard is what this one heard.
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

/** About a reference that no order has ever had. */
function ask(connector: Connector): Promise<InquiryAnswer> {
  const random = systemRandom();
  const idOf = (prefix: 'att' | 'txn'): string => makeId(prefix, 0, random.bytes(16), 0);
  const attemptId = idOf('att');
  const reference = connector.referenceFor(attemptId);
  return connector.inquire({ reference, attemptId, orderId: idOf('txn'), amountMinor: 1n, currency: 'usd' });
}

/** What an inquiry about nothing says of the way to the upstream: `not_found` is the best answer there is. */
export function connectorCheck(
  name: string,
  word: InquiryAnswer,
  heard: readonly OutboundAnswer[],
  mode: Config['mode'],
): Check {
  if (word.kind === 'not_found') return ok(name, 'it answers, and takes our credentials');
  const answered = heard.flatMap((answer) => (answer.kind === 'answered' ? [answer.status] : []));
  if (answered.length === 0) {
    const why =
      heard.flatMap((answer) => (answer.kind === 'answered' ? [] : [answer.reason]))[0] ?? 'nothing was asked';
    if (mode === 'sandbox') return warn(name, `it cannot be reached (${why}): start the sandbox (npm start)`);
    return fail(
      name,
      `it cannot be reached (${why}): see its base URL, the name servers and the way out of this machine`,
    );
  }
  const refused = answered.find((status) => status === 401 || status === 403);
  if (refused !== undefined) {
    const wayOut = 'see its keys and, where it keeps one, its list of addresses';
    return fail(name, `it does not take our credentials (HTTP ${refused}): ${wayOut}`);
  }
  const said = word.kind === 'unknown' ? word.reason : word.kind;
  return warn(name, `it answers, and not as expected (${said}): look at its status page, and try again later`);
}

/** Keeps what came back, for whoever wants to know why an answer is what it is. */
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

/** Texts carry one-time codes. Only its door is knocked at: every request could be a text. */
export function checkTexts(config: Config): Promise<readonly Check[]> {
  return looking('texts', async () => {
    const { sms, mode } = config;
    if (sms === undefined) return [checkWarning(config, 'texts', 'texts', '')];
    const { whyUnreachable } = await import('../platform/reach.ts');
    const why = await whyUnreachable(sms.url);
    const host = new URL(sms.url).host;
    if (why === undefined) return [ok('texts', `one-time codes leave by ${host}, which can be reached`)];
    if (mode === 'sandbox') return [warn('texts', `${host} cannot be reached (${why}): start the sandbox (npm start)`)];
    return [fail('texts', `${host} cannot be reached (${why}): see SMS_URL and the way out of this machine`)];
  });
}
