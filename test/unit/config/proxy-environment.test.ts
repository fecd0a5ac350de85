import { describe, expect, test } from '@jest/globals';
import { readProxies } from '../../../src/config/outbound.ts';
import { isExempt } from '../../../src/network/no-proxy.ts';

type Environment = Readonly<Record<string, string>>;

function read(environment: Environment): ReturnType<typeof readProxies> {
  return readProxies({ environment });
}

describe('the proxy variables of the environment', () => {
  test.each<[Environment, string | undefined, string | undefined]>([
    [{}, undefined, undefined],
    [{ HTTPS_PROXY: 'http://a.test:3128' }, 'http://a.test:3128/', undefined],
    [{ https_proxy: 'http://a.test:3128' }, 'http://a.test:3128/', undefined],
    [{ HTTP_PROXY: 'https://a.test' }, undefined, 'https://a.test/'],
    [{ http_proxy: 'a.test:3128' }, undefined, 'http://a.test:3128/'],
    [{ HTTPS_PROXY: 'http://a.test', https_proxy: 'http://b.test' }, 'http://a.test/', undefined],
    [{ HTTPS_PROXY: ' ', https_proxy: ' http://b.test ' }, 'http://b.test/', undefined],
    [{ HTTPS_PROXY: 'http://u%40x:p%25@[fd00::1]:3128/' }, 'http://u%40x:p%25@[fd00::1]:3128/', undefined],
    [{ HTTPS_PROXY: 'user:word@a.test:3128' }, 'http://user:word@a.test:3128/', undefined],
    [{ ALL_PROXY: 'http://a.test' }, undefined, undefined],
  ])('%j mean for https %s and for http %s', (environment, https, http) => {
    const { proxies, problems } = read(environment);

    expect({ https: proxies.https?.href, http: proxies.http?.href }).toEqual({ https, http });
    expect(problems).toEqual([]);
  });

  test.each<[Environment, string]>([
    [{ HTTPS_PROXY: 'socks5://a.test:1080' }, 'HTTPS_PROXY: "socks5://a.test:1080" from'],
    [{ https_proxy: 'http://' }, 'https_proxy: its value from'],
    [{ HTTP_PROXY: 'http://a.test:99999' }, 'HTTP_PROXY: its value from'],
    [{ HTTP_PROXY: 'http://a.test/path' }, 'HTTP_PROXY: "http://a.test" from'],
    [{ HTTP_PROXY: 'http://a b' }, 'HTTP_PROXY: its value from'],
    // A possible password is not shown.
    [{ HTTPS_PROXY: 'socks5://user:secret@a.test' }, 'HTTPS_PROXY: "socks5://a.test" from'],
    [{ HTTPS_PROXY: 'http://user:100%secret@a.test' }, 'HTTPS_PROXY: "http://a.test" from'],
    [{ HTTPS_PROXY: 'http://user:se@cr/et@a.test' }, 'HTTPS_PROXY: its value from'],
  ])('%j are refused in one line', (environment, beginning) => {
    const { problems, proxies } = read(environment);

    expect(problems).toEqual([
      expect.stringContaining(`${beginning} the environment is refused; accepted: the http or https URL`),
    ]);
    expect(problems.join('')).not.toMatch(/secret|\n/);
    expect([proxies.http, proxies.https]).toEqual([undefined, undefined]);
  });

  test.each(['NO_PROXY', 'no_proxy'])(
    '%s lists the exceptions, and an entry that matches nothing is reported',
    (variable) => {
      const { proxies, warnings } = read({ [variable]: '10.0.0.0/8,10.0.0.0/40' });

      expect(isExempt({ host: '10.1.1.1', port: 443 }, proxies.exempt)).toBe(true);
      expect(warnings).toEqual([
        {
          kind: 'warning',
          message: 'an entry of the proxy exceptions matches nothing',
          details: { variable, entry: '10.0.0.0/40' },
        },
      ]);
    },
  );
});
