// Reads from options and environment how requests leave this process: proxies and trusted authorities.
import { noProxies, type Proxies } from '../network/proxies.ts';
import { acceptedAuthorities, readExtraAuthorities } from './extra-authorities.ts';
import { type OptionSource, refusalLine } from './option-source.ts';
import type { ProcessEnvironment } from './option-row.ts';
import { readProxies } from './proxy-environment.ts';
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
