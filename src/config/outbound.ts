// Reads from options and environment how requests leave this process: proxies from the usual environment variables, of which the
// upper-case spelling takes precedence, as in Go and client-go; and certificate authorities to trust in addition to those of Node.js.
import { X509Certificate } from 'node:crypto';
import { noExceptions, readNoProxy } from '../network/no-proxy.ts';
import { noProxies, type Proxies } from '../network/proxies.ts';
import { plainValue, urlInWords } from '../network/untrusted-text.ts';
import { failureInWords } from './config-directory.ts';
import { type OptionSource, refusalLine } from './option-source.ts';
import type { ProcessEnvironment } from './option-row.ts';
import type { OptionWarning } from './option-warnings.ts';

export interface Outbound {
  readonly proxies: Proxies;
  /** PEM: authorities trusted in addition to those of Node.js. */
  readonly extraAuthorities: readonly string[];
}

export interface OutboundReading {
  readonly outbound: Outbound;
  /** A line for each problem. If there are any, nothing may be sent. */
  readonly problems: readonly string[];
  readonly warnings: readonly OptionWarning[];
}

/** The option extra-ca-file as given. */
export interface AuthorityFile {
  readonly path: string | undefined;
  readonly source: OptionSource;
}

export function readOutbound(
  { path, source }: AuthorityFile,
  processEnvironment: ProcessEnvironment,
): OutboundReading {
  const { proxies, problems, warnings } = readProxies(processEnvironment);
  const authorities = readExtraAuthorities(path, processEnvironment);
  if (authorities.kind === 'certificates') {
    return { outbound: { proxies, extraAuthorities: authorities.certificates }, problems, warnings };
  }
  const name = 'extra-ca-file';
  const { because } = authorities;
  const refusal = refusalLine({ name, source, text: path ?? '', because, accepted: acceptedAuthorities });
  return {
    outbound: { proxies: noProxies, extraAuthorities: [] },
    problems: [...problems, refusal],
    warnings,
  };
}

export type ExtraAuthorities =
  /** PEM each. */
  | { readonly kind: 'certificates'; readonly certificates: readonly string[] }
  /** `because` is worded to follow "refused because". */
  | { readonly kind: 'refused'; readonly because: string };

const acceptedAuthorities =
  'a readable file of certificates as PEM, each between BEGIN CERTIFICATE and END CERTIFICATE';

const block = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

export function readExtraAuthorities(
  path: string | undefined,
  { readFile }: Pick<ProcessEnvironment, 'readFile'>,
): ExtraAuthorities {
  if (path === undefined) return { kind: 'certificates', certificates: [] };
  let text: string;
  try {
    text = readFile(path);
  } catch (error) {
    return { kind: 'refused', because: failureInWords(error) };
  }
  const certificates = text.match(block) ?? [];
  if (certificates.length === 0) return { kind: 'refused', because: 'it holds no certificate as PEM' };
  const broken = certificates.findIndex((certificate) => !isCertificate(certificate));
  return broken === -1
    ? { kind: 'certificates', certificates }
    : { kind: 'refused', because: `certificate ${broken + 1} in it cannot be read` };
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false;
  }
}

export interface ProxyReading {
  readonly proxies: Proxies;
  /** A line for each problem. If there are any, the proxies must not be used. */
  readonly problems: readonly string[];
  readonly warnings: readonly OptionWarning[];
}

export function readProxies({ environment }: Pick<ProcessEnvironment, 'environment'>): ProxyReading {
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
    warnings: exempt.unread.map((entry) => ({
      kind: 'warning',
      message: 'an entry of the proxy exceptions matches nothing',
      details: { variable: exceptions?.variable ?? '', entry: entryInWords(entry) },
    })),
  };
}

/** A name and what looks like a block, of which a credential is unlikely. */
const namedBlock = /^[a-z.-]{1,60}\/\d{1,3}$/i;

/** The entry, unless it may be a misplaced credential. */
function entryInWords(entry: string): string {
  const words = plainValue(entry) ?? (namedBlock.test(entry) ? entry : undefined);
  return words ?? `not shown, because it may hold a credential: ${entry.length} characters`;
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
  const address = urlInWords(given.text);
  const shown = address === undefined ? 'its value' : JSON.stringify(address);
  const problem = `${given.variable}: ${shown} from the environment is refused; accepted: ${accepted}`;
  return { proxy: undefined, problem };
}

/** A bare host with a port is an http proxy, as in Go. */
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
