// The proxies that the environment names, by the variables that every program knows. The spelling in capitals comes
// first, as in Go and so in client-go.
import { noExceptions, readNoProxy } from '../network/no-proxy.ts';
import type { Proxies } from '../network/proxies.ts';
import type { Surroundings } from './option-row.ts';
import type { Remark } from './remarks.ts';

export interface ProxyReading {
  readonly proxies: Proxies;
  /** One line each; then the proxies are not to be used. */
  readonly problems: readonly string[];
  readonly remarks: readonly Remark[];
}

export function readProxies({ environment }: Pick<Surroundings, 'environment'>): ProxyReading {
  const given = (name: string): Given | undefined => {
    const variable = [name, name.toLowerCase()].find((each) => (environment[each] ?? '').trim() !== '');
    return variable === undefined ? undefined : { variable, text: (environment[variable] ?? '').trim() };
  };
  const http = readProxy(given('HTTP_PROXY'));
  const https = readProxy(given('HTTPS_PROXY'));
  const exceptions = given('NO_PROXY');
  const exempt = exceptions === undefined ? noExceptions : readNoProxy(exceptions.text);
  return {
    proxies: { http: http.proxy, https: https.proxy, exempt },
    problems: [http.problem, https.problem].filter((problem) => problem !== undefined),
    remarks: exempt.unread.map((entry) => ({
      kind: 'warning',
      message: 'an entry of the proxy exceptions matches nothing',
      details: { variable: exceptions?.variable ?? '', entry },
    })),
  };
}

interface Given {
  readonly variable: string;
  readonly text: string;
}

interface ReadProxy {
  readonly proxy: URL | undefined;
  readonly problem: string | undefined;
}

const accepted =
  'the http or https URL of a proxy, such as http://proxy.example.com:3128 or http://user:password@proxy.example.com:3128, in which % is written %25 and @ within a password %40';

function readProxy(given: Given | undefined): ReadProxy {
  if (given === undefined) return { proxy: undefined, problem: undefined };
  const proxy = parse(given.text);
  if (proxy !== undefined) return { proxy, problem: undefined };
  const shown = JSON.stringify(withoutSecrets(given.text).slice(0, 100));
  const problem = `${given.variable}: ${shown} from the environment is refused; accepted: ${accepted}`;
  return { proxy: undefined, problem };
}

/** A bare host with a port is a proxy that is spoken to by http, as in Go. */
function parse(text: string): URL | undefined {
  const url = URL.parse(text.includes('://') ? text : `http://${text}`);
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined;
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '') return undefined;
  return isDecodable(url.username) && isDecodable(url.password) ? url : undefined;
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/** Whatever stands before the last @ may be a password. */
function withoutSecrets(text: string): string {
  return text.replace(/^.*@/s, '…@');
}
