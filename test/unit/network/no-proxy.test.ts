import { describe, expect, test } from '@jest/globals';
import { isExempt, readNoProxy } from '../../../src/network/no-proxy.ts';

describe('NO_PROXY', () => {
  test.each<[string, string, number, boolean]>([
    ['example.com', 'example.com', 443, true],
    ['example.com', 'www.example.com', 443, true],
    ['example.com', 'a.b.example.com', 443, true],
    ['example.com', 'notexample.com', 443, false],
    ['example.com', 'example.com.evil.org', 443, false],
    ['example.com.', 'example.com', 443, true],
    ['EXAMPLE.com', 'example.com', 443, true],
    ['.example.com', 'example.com', 443, false],
    ['.example.com', 'www.example.com', 443, true],
    ['*.example.com', 'example.com', 443, false],
    ['*.example.com', 'www.example.com', 443, true],
    ['.svc', 'kubernetes.default.svc', 443, true],
    ['svc', 'kubernetes.default.svc', 443, true],
    ['example.com:8443', 'example.com', 8443, true],
    ['example.com:8443', 'www.example.com', 8443, true],
    ['example.com:8443', 'example.com', 443, false],
    ['*', 'anything', 443, true],
    ['a,*', '10.0.0.1', 443, true],
    ['*:80', 'anything', 443, false],
    ['*:80', 'anything', 80, true],
    ['10.0.0.1', '10.0.0.1', 443, true],
    ['10.0.0.1', '10.0.0.11', 443, false],
    ['10.0.0.1:6443', '10.0.0.1', 6443, true],
    ['10.0.0.1:6443', '10.0.0.1', 443, false],
    ['10.0.0.0/8', '10.255.0.1', 443, true],
    ['10.0.0.0/8', '11.0.0.1', 443, false],
    ['10.1.2.3/8', '10.255.0.1', 443, true],
    ['0.0.0.0/0', '8.8.8.8', 443, true],
    ['10.0.0.0/8', '10.example.com', 443, false],
    ['10', '10.0.0.1', 443, false],
    ['fd00::/8', 'fd12::1', 443, true],
    ['fd00::/8', 'fe80::1', 443, false],
    ['0.0.0.0/0', 'fd12::1', 443, false],
    ['fd12:0::1', 'fd12::1', 443, true],
    ['[fd12::1]', 'fd12::1', 443, true],
    ['[fd12::1]:6443', 'fd12::1', 6443, true],
    ['[fd12::1]:6443', 'fd12::1', 443, false],
    ['a.test, b.test c.test\td.test', 'd.test', 443, true],
    [' ,, ', 'a.test', 443, false],
    ['', 'a.test', 443, false],
  ])('is %j, and applies to %s port %i: %j', (text, host, port, direct) => {
    const exempt = readNoProxy(text);

    expect(isExempt({ host, port }, exempt)).toBe(direct);
    expect(exempt.unread).toEqual([]);
  });

  test.each([
    '10.0.0.0/33',
    '10.0.0/8',
    '/8',
    'fd00::/129',
    'a.test/24',
    'a.test:0',
    'a.test:70000',
    'https://a.test',
    ':80',
    '[a.test',
    'a..test',
  ])('skips %j, which can match nothing, and applies the other entries', (entry) => {
    const exempt = readNoProxy(`A.test,${entry},b.test`);

    expect(exempt.unread).toEqual([entry]);
    expect(isExempt({ host: 'b.test', port: 443 }, exempt)).toBe(true);
  });
});
