import { describe, expect, test } from '@jest/globals';
import { readNoProxy } from '../../../src/network/no-proxy.ts';
import { noProxies, proxyFor, proxyInWords } from '../../../src/network/proxies.ts';

const proxies = {
  http: new URL('http://plain.test:3128'),
  https: new URL('http://secure.test:3128'),
  exempt: readNoProxy('10.96.0.0/12,.internal.test,ported.test:8443'),
};

describe('the proxy for a target', () => {
  test.each([
    ['https://ec2.eu-central-1.amazonaws.com', 'secure'],
    ['http://ec2.eu-central-1.amazonaws.com', 'plain'],
    ['https://10.95.0.1:6443', 'secure'],
    ['https://10.96.0.1', undefined],
    ['https://A.Internal.Test.', undefined],
    ['https://internal.test', 'secure'],
    ['https://ported.test:8443', undefined],
    ['https://ported.test', 'secure'],
    // For any configuration.
    ['http://169.254.169.254', undefined],
    ['http://169.254.170.23/v1/credentials', undefined],
    ['http://[fd00:ec2::254]', undefined],
    ['http://[fe80::1]', undefined],
    ['https://localhost:6443', undefined],
    ['https://127.0.0.1:6443', undefined],
    ['https://127.8.9.10', undefined],
    ['https://[::1]:6443', undefined],
    ['https://[::ffff:127.0.0.1]', undefined],
    ['https://128.0.0.1', 'secure'],
    ['https://[fd00:ec3::1]', 'secure'],
  ])('is, for %s, %s', (target, found) => {
    expect(proxyFor(new URL(target), proxies)?.hostname).toBe(found && `${found}.test`);
  });

  test('is found with the port of the scheme when the target has none', () => {
    const exempt = readNoProxy('a.test:443,b.test:80');

    const found = ['https://a.test', 'http://a.test', 'https://b.test', 'http://b.test'].map(
      (target) => proxyFor(new URL(target), { ...proxies, exempt })?.hostname,
    );

    expect(found).toEqual([undefined, 'plain.test', 'secure.test', undefined]);
  });

  test.each(['https', 'http'] as const)(
    'is not used for the other scheme when it is set for %s',
    (scheme) => {
      const only = { ...noProxies, [scheme]: proxies[scheme] };

      expect(proxyFor(new URL(`${scheme}://a.test`), only)).toBe(proxies[scheme]);
      expect(proxyFor(new URL(`${scheme === 'http' ? 'https' : 'http'}://a.test`), only)).toBeUndefined();
    },
  );

  test('is shown to people without user and password', () => {
    expect(proxyInWords(new URL('https://user:secret@proxy.test:3128/'))).toBe('https://proxy.test:3128');
  });
});
