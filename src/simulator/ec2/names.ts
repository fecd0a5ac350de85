// Names that EC2 derives: zone ids, DNS names, ARNs.

/** Short forms of directions in zone ids. */
const directions: Readonly<Record<string, string>> = {
  north: 'n',
  south: 's',
  east: 'e',
  west: 'w',
  central: 'c',
  northeast: 'ne',
  northwest: 'nw',
  southeast: 'se',
  southwest: 'sw',
};

/** `us-east-1a` is `use1-az1` in this account, and so on. */
export function zoneIdOf(zone: string): string {
  const letter = zone.slice(-1);
  const steps = zone.slice(0, -1).split('-');
  const area = steps.slice(0, -1).map((step) => directions[step] ?? step);
  return `${area.join('')}${steps.at(-1) ?? ''}-az${letter.charCodeAt(0) - 96}`;
}

/** The private DNS name of an address. */
export function privateDnsName(region: string, address: string): string {
  const domain = region === 'us-east-1' ? 'ec2.internal' : `${region}.compute.internal`;
  return `ip-${address.replaceAll('.', '-')}.${domain}`;
}

/** The public DNS name of an address. */
export function publicDnsName(region: string, address: string): string {
  const domain = region === 'us-east-1' ? 'compute-1' : `${region}.compute`;
  return `ec2-${address.replaceAll('.', '-')}.${domain}.amazonaws.com`;
}

/** The ARN of a resource of this account. */
export function arnOf(
  network: { readonly region: string; readonly account: string },
  resource: string,
): string {
  return `arn:aws:ec2:${network.region}:${network.account}:${resource}`;
}
