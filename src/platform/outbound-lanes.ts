/**
 * Lanes: how many requests may be on their way to one origin at once.
 *
 * Invariant: at most `LANE_WIDTH` of an origin run, the others wait in the order they came and can leave the queue; an
 * origin that nobody uses leaves nothing behind.
 */

/** Enough for thousands of short requests a second, few enough that one origin cannot use up the sockets. */
export const LANE_WIDTH = 64;

interface Lane {
  running: number;
  readonly waiting: Set<() => void>;
}

export interface Lanes {
  /** Starts now, or when it is one's turn. Returns what takes it out of the queue; useless once it has started. */
  enter(origin: string, start: () => void): () => void;
  /** To be called once for each that started. */
  leave(origin: string): void;
  /** How many origins are in use. */
  size(): number;
}

export function createLanes(width: number = LANE_WIDTH): Lanes {
  const lanes = new Map<string, Lane>();
  return {
    enter(origin, start) {
      let lane = lanes.get(origin);
      if (lane === undefined) {
        lane = { running: 0, waiting: new Set() };
        lanes.set(origin, lane);
      }
      const { waiting } = lane;
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
