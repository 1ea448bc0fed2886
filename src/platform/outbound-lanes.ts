/**
 * Lanes: how many requests may be on their way to one origin at once.
 *
 * Invariant: at most `LANE_WIDTH` of an origin run, the others wait in the order they came and can leave the queue, which is
 * never longer than `MOST_WAITING`; an origin that nobody uses leaves nothing behind.
 */

/**
 * Enough for two thousand requests a second at the hundred milliseconds that each takes when both sides are overloaded; few
 * enough that one origin cannot use up the sockets.
 */
export const LANE_WIDTH = 256;
/**
 * At a hundred milliseconds a call these are gone in half a second. Where an origin does not answer, they would all wait
 * until their deadlines, and their callers with them: more are better told at once.
 */
const MOST_WAITING = 1_024;

interface Lane {
  running: number;
  readonly waiting: Set<() => void>;
}

export interface Lanes {
  /**
   * Starts now, or when it is one's turn. Returns what takes it out of the queue, useless once it has started; undefined when
   * the queue is full, and it will never start.
   */
  enter(origin: string, start: () => void): (() => void) | undefined;
  /** To be called once for each that started. */
  leave(origin: string): void;
  /** How many origins are in use. */
  size(): number;
}

export function createLanes(width: number = LANE_WIDTH, mostWaiting: number = MOST_WAITING): Lanes {
  const lanes = new Map<string, Lane>();
  return {
    enter(origin, start) {
      let lane = lanes.get(origin);
      if (lane === undefined) {
        lane = { running: 0, waiting: new Set() };
        lanes.set(origin, lane);
      }
      const { waiting } = lane;
      if (waiting.size >= mostWaiting) return undefined;
      if (lane.running < width) {
        lane.running += 1;
        start();
      } else {
        waiting.add(start);
      }
      return () => {
        waiting.delete(start);
      };
    },
    leave(origin) {
      const lane = lanes.get(origin);
      if (lane === undefined) return;
      const [next] = lane.waiting;
      if (next !== undefined) {
        lane.waiting.delete(next);
        next();
        return;
      }
      lane.running -= 1;
      if (lane.running === 0) lanes.delete(origin);
    },
    size: () => lanes.size,
  };
}
