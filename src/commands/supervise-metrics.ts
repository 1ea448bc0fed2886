/**
 * Collects the metrics of all processes for one that was asked for them.
 *
 * Invariant: a process that does not answer within `MAX_ANSWER_MS` is left out, and no scrape waits longer for it.
 */
import type { Clock } from '../platform/platform.ts';
import { joinMetrics, type ProcessMetrics } from './metrics-page.ts';
import type { Member } from './supervise-member.ts';
import type { ProcessMessage } from './supervise-messages.ts';
import type { Slots } from './supervise-slots.ts';

/** 4 s, twice as long as a process waits for a slow database before it answers without it (`watch/database-metrics.ts`). */
const MAX_ANSWER_MS = 4_000;

/** The supervisor's part in a scrape: it asks all processes, and hands their joined metrics to the one that was scraped. */
export interface MetricsOfAll {
  /** Takes a message from a process. */
  heard(member: Member, message: ProcessMessage): void;
}

/** `slots` is called for every request. */
export function collectMetrics(clock: Pick<Clock, 'after'>, slots: () => Slots): MetricsOfAll {
  const answers = new Map<number, (text: string) => void>();
  let asks = 0;

  const askOne = (member: Member): Promise<ProcessMetrics | undefined> => {
    asks += 1;
    const ask = asks;
    return new Promise<ProcessMetrics | undefined>((resolve) => {
      const cancel = clock.after(MAX_ANSWER_MS, () => resolve(undefined));
      answers.set(ask, (text) => {
        cancel();
        resolve({ process: member.slot.name, text });
      });
      member.tell({ type: 'numbers_wanted', ask });
    }).finally(() => answers.delete(ask));
  };
  const answer = async (asker: Member, ask: number): Promise<void> => {
    const { members, restarts } = slots();
    const asked = members().filter((member) => member.isConnected());
    const pages = (await Promise.all(asked.map(askOne))).filter((page) => page !== undefined);
    asker.tell({ type: 'numbers_of_all', ask, text: `${joinMetrics(pages)}\n${restartsPage(restarts)}` });
  };
  return {
    heard(member, message) {
      if (message.type === 'numbers_asked') void answer(member, message.ask);
      else if (message.type === 'numbers') answers.get(message.ask)?.(message.text);
    },
  };
}

function restartsPage(restarts: ReadonlyMap<string, number>): string {
  const name = 'mbongo_process_restarts_total';
  return [
    `# HELP ${name} How many times a process has been restarted since its supervisor started.`,
    `# TYPE ${name} counter`,
    ...[...restarts].map(([process, count]) => `${name}{process="${process}"} ${count}`),
    '',
  ].join('\n');
}
