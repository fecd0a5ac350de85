import { describe, expect, test } from '@jest/globals';
import { formatListenAddress, parseListenAddress } from '../../../src/observability/listen-address.ts';

describe('parseListenAddress', () => {
  test.each([
    [':9966', { host: undefined, port: 9966 }],
    [':0', { host: undefined, port: 0 }],
    ['127.0.0.1:80', { host: '127.0.0.1', port: 80 }],
    ['localhost:65535', { host: 'localhost', port: 65_535 }],
    ['[::1]:9966', { host: '::1', port: 9966 }],
    ['[::]:9966', { host: '::', port: 9966 }],
  ])('reads %s and writes it back', (text, expected) => {
    const address = parseListenAddress(text);

    expect(address).toEqual(expected);
    expect(address && formatListenAddress(address)).toBe(text);
  });

  test.each(['', '9966', 'localhost', ':', ':65536', ':-1', '::1:9966', 'http://a:80', 'a b:80', '[a]b:1'])(
    'refuses %j',
    (text) => {
      expect(parseListenAddress(text)).toBeUndefined();
    },
  );
});
