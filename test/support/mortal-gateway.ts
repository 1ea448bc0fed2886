/**
 * A gateway that is killed again and again, and started again at once on the same port; its time passes several times as fast as
 * ours, so that what waits for minutes settles while a test waits.
 */
import type { FaultyWorld } from './faulty-world.ts';
import { type Running, startGateway } from './processes.ts';

export interface MortalGateway {
  /** Its address, once the process of this moment serves. */
  url(): Promise<string>;
  /** Its time, in milliseconds since 1970. */
  now(): number;
  /** kill -9 of the process of this moment; the next one is starting when it resolves. */
  kill(): Promise<void>;
  /** Stops the last process in order. Returns what all of them have printed. */
  stop(): Promise<string>;
}

/** `factor`: how many times as fast as ours its time passes. */
export async function openMortalGateway(
  world: Pick<FaultyWorld, 'address' | 'gatewayEnv'>,
  factor: number,
): Promise<MortalGateway> {
  const { port, url } = await world.address();
  const speed = { factor, since: Date.now() };
  const start = (): Promise<Running> => startGateway(world.gatewayEnv(port), { speed });
  let starting = start();
  let logs = '';
  return {
    url: () => starting.then(() => url),
    now: () => speed.since + (Date.now() - speed.since) * factor,
    async kill() {
      const gateway = await starting;
      await gateway.kill();
      logs += gateway.printed();
      starting = start();
    },
    async stop() {
      const gateway = await starting;
      await gateway.stop();
      return logs + gateway.printed();
    },
  };
}
