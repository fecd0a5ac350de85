// The answer of an ADD about an address: in which network it is, and by which gateway its pod reaches others. Pure.
import { addressText, type Family, familyOf, widthOf } from '../../blocks/set/cidr.ts';
import type { PodNetwork } from '../allocators/allocator.ts';
import type { IpamConf } from './network-conf.ts';
import type { ResultAddress } from './result.ts';

/** Where a network has no router: as routers without an address of their own have. */
const linkLocalRouters: Readonly<Record<Family, string>> = { ipv4: '169.254.1.1', ipv6: 'fe80::1' };

/**
 * Main plugins reach a gateway of IPv4 only in the network of the address: undefined if none is known, unless the configuration
 * wants no network at all.
 */
export function podAddress(
  { prefixLength, gateway }: IpamConf,
  ip: string,
  network: PodNetwork | undefined,
): ResultAddress | undefined {
  const family = familyOf(ip);
  const shown = { ip: gatewayText(family, network), length: network?.length };
  const { ip: router, length = shown.length } = gateway?.family === family ? gateway : shown;
  if (prefixLength === 'host') return reached(ip, family, undefined, router);
  return family === 'ipv4' && (router === undefined || length === undefined)
    ? undefined
    : reached(ip, family, length, router);
}

function reached(
  ip: string,
  family: Family,
  length: number | undefined,
  router: string | undefined,
): ResultAddress {
  const address = `${ip}/${length ?? widthOf[family]}`;
  return { family, address, gateway: router ?? linkLocalRouters[family] };
}

function gatewayText(family: Family, network: PodNetwork | undefined): string | undefined {
  const value = network?.gateway;
  return value === undefined ? undefined : addressText({ family, value });
}

export function unknownNetwork(ip: string): string {
  return `no gateway is known of the network of ${ip}: set ipam.gateway to one with its prefix length, such as "10.0.0.1/24", or ipam.prefixLength to "host"`;
}
