// The result that ADD prints, in the shape of each version of CNI: https://www.cni.dev/docs/spec/#add-success. An IPAM plugin
// names no interfaces.
import { type Family, familyOf } from '../../blocks/set/cidr.ts';

export const cniVersions = ['0.1.0', '0.2.0', '0.3.0', '0.3.1', '0.4.0', '1.0.0', '1.1.0'] as const;

export type CniVersion = (typeof cniVersions)[number];

export interface ResultAddress {
  readonly family: Family;
  /** With its prefix length. */
  readonly address: string;
  readonly gateway: string;
}

export interface ResultRoute {
  readonly dst: string;
  readonly gw?: string;
  /** Members since 1.1.0. */
  readonly extra: Readonly<Record<string, number>>;
}

export interface Dns {
  readonly nameservers?: readonly string[];
  readonly domain?: string;
  readonly search?: readonly string[];
  readonly options?: readonly string[];
}

export interface AddResult {
  readonly addresses: readonly ResultAddress[];
  readonly routes: readonly ResultRoute[];
  readonly dns: Dns | undefined;
}

export function isAtLeast(version: CniVersion, min: CniVersion): boolean {
  return cniVersions.indexOf(version) >= cniVersions.indexOf(min);
}

export function resultText(cniVersion: CniVersion, result: AddResult): string {
  const dns = result.dns === undefined ? {} : { dns: result.dns };
  const body = isAtLeast(cniVersion, '0.3.0')
    ? { ips: addressList(cniVersion, result.addresses), routes: routesIn(cniVersion, result.routes) }
    : byFamily(cniVersion, result);
  return `${JSON.stringify({ cniVersion, ...body, ...dns })}\n`;
}

function addressList(version: CniVersion, addresses: readonly ResultAddress[]): readonly unknown[] {
  const namesFamily = !isAtLeast(version, '1.0.0');
  return addresses.map(({ family, address, gateway }) => ({
    ...(namesFamily && { version: family === 'ipv4' ? '4' : '6' }),
    address,
    gateway,
  }));
}

function routesIn(version: CniVersion, routes: readonly ResultRoute[]): readonly unknown[] {
  return routes.map(({ dst, gw, extra }) => ({
    dst,
    ...(gw !== undefined && { gw }),
    ...(isAtLeast(version, '1.1.0') && extra),
  }));
}

/** Results of these versions can name only one address of each family. */
function byFamily(version: CniVersion, { addresses, routes }: AddResult): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    addresses.map(({ family, address, gateway }) => {
      const own = routes.filter(({ dst }) => familyOf(dst) === family);
      return [family === 'ipv4' ? 'ip4' : 'ip6', { ip: address, gateway, routes: routesIn(version, own) }];
    }),
  );
}

/** Reads a resolv.conf: https://man7.org/linux/man-pages/man5/resolv.conf.5.html */
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
