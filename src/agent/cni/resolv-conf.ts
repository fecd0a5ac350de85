// Reads a resolv.conf for the result of ADD: https://man7.org/linux/man-pages/man5/resolv.conf.5.html
import type { Dns } from './result.ts';

export function parseResolvConf(text: string): Dns {
  const lines = text
    .split('\n')
    .map((line) =>
      line
        .replace(/[#;].*$/, '')
        .trim()
        .split(/\s+/),
    )
    .filter(([keyword = '']) => keyword !== '');
  const all = (keyword: string): readonly string[] =>
    lines.filter(([first]) => first === keyword).flatMap(([, ...values]) => values);
  // The last of these lines counts.
  const last = (keyword: string): readonly string[] =>
    lines.findLast(([first]) => first === keyword)?.slice(1) ?? [];
  const [domain] = last('domain');
  return {
    nameservers: all('nameserver'),
    ...(domain !== undefined && { domain }),
    search: last('search'),
    options: all('options'),
  };
}
