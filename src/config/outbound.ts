// How requests leave this process, as configuration and environment say: through which proxies, and whom to trust.
import { noProxies, type Proxies } from '../network/proxies.ts';
import { acceptedAuthorities, readExtraAuthorities } from './extra-authorities.ts';
import { type OptionSource, refusalLine } from './option-source.ts';
import type { Surroundings } from './option-row.ts';
import { readProxies } from './proxy-environment.ts';
import type { Remark } from './remarks.ts';

export interface Outbound {
  readonly proxies: Proxies;
  /** As PEM: authorities to trust besides those that Node.js trusts. */
  readonly extraAuthorities: readonly string[];
}

export interface OutboundReading {
  readonly outbound: Outbound;
  /** One line each; then nothing may be sent. */
  readonly problems: readonly string[];
  readonly remarks: readonly Remark[];
}

/** The option extra-ca-file as it was given. */
export interface AuthorityFile {
  readonly path: string | undefined;
  readonly source: OptionSource;
}

export function readOutbound({ path, source }: AuthorityFile, surroundings: Surroundings): OutboundReading {
  const { proxies, problems, remarks } = readProxies(surroundings);
  const authorities = readExtraAuthorities(path, surroundings);
  if (authorities.kind === 'certificates') {
    return { outbound: { proxies, extraAuthorities: authorities.certificates }, problems, remarks };
  }
  const name = 'extra-ca-file';
  const { because } = authorities;
  const refusal = refusalLine({ name, source, text: path ?? '', because, accepted: acceptedAuthorities });
  return {
    outbound: { proxies: noProxies, extraAuthorities: [] },
    problems: [...problems, refusal],
    remarks,
  };
}
