/**
 * The arithmetic behind the figures: percentiles, medians, ratios and scatter.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { latencyOf, median, medianRatio, scatter } from './stats.ts';

const upTo = (count: number): number[] => Array.from({ length: count }, (_, at) => at + 1);

describe('percentiles', () => {
  test('are the values at their rank, whatever the order of the samples', () => {
    expect(latencyOf(upTo(1000).reverse())).toEqual({ count: 1000, p50: 500, p99: 990, p999: 999 });
    expect(latencyOf(upTo(10))).toEqual({ count: 10, p50: 5, p99: 10, p999: 10 });
  });

  test('of one value are that value, and of none are 0', () => {
    expect(latencyOf([7])).toEqual({ count: 1, p50: 7, p99: 7, p999: 7 });
    expect(latencyOf([])).toEqual({ count: 0, p50: 0, p99: 0, p999: 0 });
  });

  test('are measured values, with the right share of samples at or below them', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 50 }), { minLength: 1, maxLength: 300 }), (samples) => {
        const { p50, p99, p999 } = latencyOf(samples);
        for (const [value, share] of [
          [p50, 0.5],
          [p99, 0.99],
          [p999, 0.999],
        ] as const) {
          expect(samples).toContain(value);
          expect(samples.filter((sample) => sample <= value).length / samples.length).toBeGreaterThanOrEqual(share);
          expect(samples.filter((sample) => sample < value).length / samples.length).toBeLessThan(share);
        }
      }),
    );
  });

  test('leave the samples as they were', () => {
    const samples = [3, 1, 2];
    latencyOf(samples);
    expect(samples).toEqual([3, 1, 2]);
  });
});

describe('a median', () => {
  test('is the middle, or between the two in the middle', () => {
    expect(median([9, 1, 5])).toBe(5);
    expect(median([10, 1, 2, 3])).toBe(2.5);
    expect(median([4])).toBe(4);
  });

  test('of nothing, or with a value missing, is not a number', () => {
    expect(median([])).toBeNaN();
    expect(median([1, Number.NaN, 3])).toBeNaN();
  });

  test('of ratios is taken round by round', () => {
    // The machine was twice as fast in the second round, for both measurements.
    expect(medianRatio([100, 200, 90], [50, 100, 45])).toBe(2);
    expect(medianRatio([100, 200], [50, undefined])).toBeNaN();
    expect(medianRatio([undefined], [50])).toBeNaN();
  });
});

test('scatter is the range as a fraction of the median', () => {
  expect(scatter([100, 120, 90])).toBeCloseTo(0.3);
  expect(scatter([100, 100, 100])).toBe(0);
  expect(scatter([100])).toBe(0);
});
