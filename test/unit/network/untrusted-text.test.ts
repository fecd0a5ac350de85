import { describe, expect, test } from '@jest/globals';
import { sanitizedText, plainValue, urlInWords } from '../../../src/network/untrusted-text.ts';

describe('an untrusted text', () => {
  test.each([
    ['plain words, é and 名 stay', 'plain words, é and 名 stay'],
    ['a\nb\u001b[31m\u202e', String.raw`a\u000ab\u001b[31m\u202e`],
    ['at https://user:hidden@host/path', 'at https://…@host/path'],
    ['Authorization: Bearer abcdefgh.hidden', 'Authorization: Bearer …'],
    ['x-amz-security-token:hidden\nhost', String.raw`x-amz-security-token:…\u000ahost`],
    ['https://host/?token=hidden&a=b', 'https://host/?…'],
    ['at https://host/a?sig=hidden#hidden or there', 'at https://host/a?… or there'],
    ['at https://user:hid/den@host/path', 'at https://…@host/path'],
    ['{"password":"hidden"}', '{"password":"…"}'],
  ])('%j is shown as %j', (text, shown) => {
    expect(sanitizedText(text)).toBe(shown);
  });

  test.each([
    '15s',
    '1h30m',
    '300ms',
    '0',
    '-1',
    '1.5',
    '80%',
    'maybe',
    ':9966',
    '10.0.0.0/16',
    '/etc/headwater/ca.pem',
    './relative',
    'Lease',
    'a b',
    'my cluster, east',
    'us-east-1',
    'Standard_D',
  ])('shows a value that cannot be a credential: %j', (text) => {
    expect(plainValue(text)).toBe(text);
  });

  test.each([
    'hunter2',
    'Zq8/K7MD+x',
    'wJalrXUtnFEMI/K7MDENG',
    'deadbeefdeadbeef00',
    '4f3a9c2e',
    'four words and one',
    'summer-2024',
    'two  words',
    'two words ',
    'a=b',

    'PLANTED-SECRET-17',
    'x'.repeat(17),
    '/etc/x?y',
    `/${'x'.repeat(200)}`,
    '1\n2',
    'https://host',
    '1a2b3c4d5e',
  ])('hides a value that may be a credential: %j', (text) => {
    expect(plainValue(text)).toBeUndefined();
  });

  test.each([
    ['https://user:hidden@host:1/path?q#f', 'https://host:1'],
    ['socks5://host', 'socks5://host'],
    ['http://user:se@cr/et@host', undefined],
    ['host:3128', undefined],
    ['hidden', undefined],
  ])('is the URL %s, and only %s is shown', (text, shown) => {
    expect(urlInWords(text)).toBe(shown);
  });

  test.each(['x', '\n', '名'])('is cut when it is a megabyte of %j', (character) => {
    expect(sanitizedText(character.repeat(1_000_000)).length).toBeLessThanOrEqual(1001);
  });
});
