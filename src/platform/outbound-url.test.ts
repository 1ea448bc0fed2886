/** A merchant's URL is refused for its scheme, form, credentials, port, name or literal address before it is dialled. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { targetOfMerchant, targetOfUpstream } from './outbound-url.ts';

const production = { allowLoopback: false, requireHttps: true };
const sandbox = { allowLoopback: true, requireHttps: false };
const plain = { allowLoopback: false, requireHttps: false };

test.each([
  ['https://example.com', 'https://example.com', '/'],
  ['https://example.com./hook?a=1&b=%20', 'https://example.com.', '/hook?a=1&b=%20'],
  ['HTTPS://EXAMPLE.com:443/Hook', 'https://example.com', '/Hook'],
  ['https://example.com:8443/@x?y=@', 'https://example.com:8443', '/@x?y=@'],
  ['https://example.com:10443/', 'https://example.com:10443', '/'],
  ['https://1.1.1.1/', 'https://1.1.1.1', '/'],
  ['https://[2606:4700::1111]/', 'https://[2606:4700::1111]', '/'],
  ['https://bücher.example/', 'https://xn--bcher-kva.example', '/'],
  [`https://example.com/${'a'.repeat(2_028)}`, 'https://example.com', `/${'a'.repeat(2_028)}`],
  [`https://example.com/${'𝄞'.repeat(2_028)}`, 'https://example.com', `/${'%F0%9D%84%9E'.repeat(2_028)}`],
])('%s may be dialled in production', (url, origin, path) => {
  expect(targetOfMerchant(url, production)).toEqual({ origin, path });
});

test.each([
  ['http://example.com', 'https'],
  ['ftp://example.com', 'not an http'],
  ['file:///etc/passwd', 'not an http'],
  ['gopher://example.com', 'not an http'],
  ['javascript:alert(1)', 'not an http'],
  ['//example.com', 'not an http'],
  ['https:example.com', 'not an http'],
  ['https:///example.com', 'not an http'],
  ['https:\\\\example.com', 'not an http'],
  ['https://example.com\\@1.1.1.1', 'not an http'],
  ['https://exa\nmple.com', 'not an http'],
  [' https://example.com', 'not an http'],
  ['https://example.com/a b', 'not an http'],
  ['https://example.com/\u0000', 'not an http'],
  ['https://example.com/\u00a0', 'not an http'],
  ['https://example.com:65536', 'not an http'],
  ['https://[fe80::1%25eth0]/', 'not an http'],
  ['https://a%00.example.com', 'not an http'],
  ['', 'not an http'],
  ['https://user@example.com', 'credentials'],
  ['https://user:pass@example.com', 'credentials'],
  ['https://@example.com', 'credentials'],
  ['https://:@example.com', 'credentials'],
  ['https://example.com/#', 'fragment'],
  ['https://example.com/#x', 'fragment'],
  ['https://example.com:22/', 'port'],
  ['https://example.com:0/', 'port'],
  ['https://example.com:5432/', 'port'],
  ['https://example.com:6379/', 'port'],
  [`https://example.com/${'a'.repeat(2_029)}`, 'longer'],
  [`https://example.com/${'𝄞'.repeat(2_029)}`, 'longer'],
  ['https://shop', 'name'],
  ['https://shop./', 'name'],
  ['https://localhost/', 'name'],
  ['https://LOCALHOST./', 'name'],
  ['https://a.localhost/', 'name'],
  ['https://printer.local/', 'name'],
  ['https://metadata.google.internal/', 'name'],
  ['https://metadata.google.internal./', 'name'],
  ['https://router.home.arpa/', 'name'],
])('%j may not: %s', (url, why) => {
  const target = targetOfMerchant(url, production);
  expect('refused' in target && target.refused).toContain(why);
});

test.each([
  'http://127.0.0.1:3000/hook',
  'http://localhost:3000/hook',
  'http://shop.localhost/',
  'http://[::1]:3000/',
  'http://127.0.0.1:9/dead',
  'http://localhost.:81/',
  'http://[::1]:9/',
  'http://example.com/',
])('sandbox mode may dial %s', (url) => expect(targetOfMerchant(url, sandbox)).toHaveProperty('origin'));

test.each([
  'http://10.0.0.1/',
  'http://0.0.0.0:8080/',
  'http://169.254.169.254/',
  'http://shop/',
  'http://[fd00::1]/',
  'http://[::]/',
  'http://127.0.0.1:0/',
  'http://127.0.0.1:5432/',
  'http://example.com:9/',
])('sandbox mode may not dial %s', (url) => expect(targetOfMerchant(url, sandbox)).toHaveProperty('refused'));

test('networks that are named are open, to literal addresses and to names that only they know; others stay shut', () => {
  const beside = { ...plain, networks: ['172.16.0.0/12', '10.1.2.3', 'fd00:1::/32'] };
  const refused = (url: string) => 'refused' in targetOfMerchant(url, beside);
  for (const url of [
    'http://172.18.0.4:8080/hook',
    'http://10.1.2.3/hook',
    'http://[fd00:1::7]:8080/hook',
    'http://shop:8080/hook',
    'http://shop.internal/hook',
    'https://example.com/hook',
  ]) {
    expect(refused(url), url).toBe(false);
  }
  const shut = ['http://10.1.2.4/', 'http://192.168.0.1/', 'http://169.254.169.254/', 'http://127.0.0.1:8080/'];
  // A mapped form is refused whatever it reaches (contract §6).
  for (const url of [...shut, 'http://[::ffff:172.18.0.4]:8080/hook', 'http://[::ffff:8.8.8.8]/']) {
    expect(refused(url), url).toBe(true);
  }
  expect(refused('http://localhost:8080/'), 'this machine is another rule').toBe(true);
});

test('no accepted URL has a private literal address, however it is written', () => {
  const octets = fc.ipV4Extended();
  const priv = fc.constantFrom(
    '127.1',
    '0177.0.0.1',
    '017700000001',
    '0x7f.1',
    '0x7f000001',
    '2130706433',
    '①②⑦.⓪.⓪.①',
  );
  fc.assert(
    fc.property(fc.oneof(octets, priv), (host) => {
      const target = targetOfMerchant(`http://${host}/`, plain);
      if ('refused' in target) return;
      expect(target.origin).not.toMatch(/^http:\/\/(127|10|0|169\.254|192\.168)\./);
    }),
  );
  fc.assert(fc.property(priv, (host) => 'refused' in targetOfMerchant(`http://${host}/`, plain)));
});

test('no text makes it fail', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.webUrl()), (text) => typeof targetOfMerchant(text, sandbox) === 'object'),
  );
});

test('an upstream may be anywhere, over http(s)', () => {
  expect(targetOfUpstream('http://10.0.0.1:5432/a?b#c')).toEqual({ origin: 'http://10.0.0.1:5432', path: '/a?b' });
  expect(targetOfUpstream('ftp://x')).toHaveProperty('refused');
  expect(targetOfUpstream('x')).toHaveProperty('refused');
});
