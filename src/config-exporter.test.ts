/**
 * The variables of the exporter of traces, which reads them itself and says nothing of bad values: they stop the start.
 */
import { describe, expect, test } from 'vitest';
import { readConfig } from './config.ts';

const OTEL_EXPORTER_OTLP_ENDPOINT = 'http://127.0.0.1:4318';

describe('the exporter’s own variables', () => {
  test.each([
    ['OTEL_EXPORTER_OTLP_TIMEOUT', '10s', '"10s": it must be a whole number from 1 to', '10000'],
    ['OTEL_EXPORTER_OTLP_TIMEOUT', '0', '"0": it must be a whole number from 1 to', '10000'],
    ['OTEL_EXPORTER_OTLP_COMPRESSION', 'brotli', '"brotli": it must be one of none, gzip', 'none'],
    ['OTEL_BSP_SCHEDULE_DELAY', '-5', '"-5": it must be a whole number from 1 to', '5000'],
    ['OTEL_BSP_EXPORT_TIMEOUT', '0', '"0": it must be a whole number from 1 to', '30000'],
    ['OTEL_BSP_MAX_QUEUE_SIZE', '-1', '"-1": it must be a whole number from 1 to', '2048'],
    // The exporter would never end its first export, and let nothing else run.
    ['OTEL_BSP_MAX_EXPORT_BATCH_SIZE', '0', '"0": it must be a whole number from 1 to', '512'],
  ])('%s=%s is named, with an example', (name, value, what, example) => {
    const read = () => readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT, [name]: value });
    expect(read).toThrow(`${name} is ${what}`);
    expect(read).toThrow(`for example ${name}=${example}`);
    expect(readConfig({ [name]: value }).traces, 'without a collector the variable is not read').toBeUndefined();
    expect(readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT, [name]: example }).traces).toBeDefined();
  });

  test.each([
    'authorization: Bearer s3cret',
    'authorization',
    'a b=s3cret',
    'x=%zz-s3cret',
    'x=s3cret%0Ay',
    'x=',
    ',=s3cret',
  ])('OTEL_EXPORTER_OTLP_HEADERS=%s is refused, without its value', (value) => {
    let said = '';
    try {
      readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS: value });
    } catch (error) {
      said = String(error);
    }
    expect(said).toMatch(
      /OTEL_EXPORTER_OTLP_HEADERS must be names and values, .*, for example OTEL_EXPORTER_OTLP_HEADERS=authorization=Bearer%20KEY$/,
    );
    expect(said).not.toContain('s3cret');
  });

  test.each(['authorization=Bearer%20s3cret', 'api-key=a=b==, x-team=pay', 'x=1,'])(
    'headers %s are accepted',
    (value) => {
      const env = { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS: value };
      expect(readConfig(env).traces).toEqual({
        endpoint: OTEL_EXPORTER_OTLP_ENDPOINT,
        serviceName: 'mbongo',
        share: 1,
      });
    },
  );
});
