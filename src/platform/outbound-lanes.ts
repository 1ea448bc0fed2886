/**
 * Lanes: how many requests may be in flight to one origin.
 *
 * Invariant: at most `LANE_WIDTH` requests to an origin are in flight; the others wait in order of arrival and can leave the
 * queue, which is never longer than `MAX_WAITING`; an origin that nobody uses leaves nothing behind.
 */

/**
 * Requests in flight to one origin. Enough for two thousand a second at the hundred milliseconds that each takes when both sides
 * are overloaded; few enough that one origin cannot use up the sockets.
 */
export const LANE_WIDTH = 256;
/**
 * Requests that may wait for one origin. At a hundred milliseconds a call these are served in half a second. If an origin does
 * not answer, they all wait until their deadlines, and their callers with them: any more are better refused at once.
 */
const MAX_WAITING = 1_024;

interface Lane {
  running: number;
  readonly waiting: Set<() => void>;
}

export interface Lanes {
  /**
   * Starts now, or when its turn comes. Returns a function that takes it out of the queue, without effect once it has started;
   * undefined when the queue is full, and it will never start.
   */
  enter(origin: string, start: () => void): (() => void) | undefined;
  /** Must be called once for each request that started. */
  leave(origin: string): void;
  /** How many origins are in use. */
  size(): number;
}

/** Makes lanes that are `width` requests wide, with queues of at most `mostWaiting` requests. */
export function createLanes(width: number = LANE_WIDTH, mostWaiting: number = MAX_WAITING): Lanes {
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
