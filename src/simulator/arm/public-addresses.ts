// Public addresses of scale-set VMs out of prefixes: a configuration that asks for one has it from its PUT on, as long as
// its prefix has addresses left.
import { formatIpv4, parseIpv4Block, sizeOf } from '../cloud/ipv4.ts';
import { type JsonObject, objectAt, textAt } from '../workload/json.ts';
import type { ArmInterface, Configuration, PublicAddress, PublicIpPrefix } from './arm-records.ts';
import { keyOf } from './resource-path.ts';

interface PublicAddresses {
  readonly publicIpPrefixes: ReadonlyMap<string, PublicIpPrefix>;
  readonly publicAddresses: Map<string, PublicAddress>;
}

/** The path of the prefix that a configuration asks for an address of; empty if it asks for none. */
export function prefixIn(properties: JsonObject): string {
  return textAt(properties, 'publicIPAddressConfiguration', 'properties', 'publicIPPrefix', 'id');
}

/** The path of the public address of a configuration; undefined if it has none. */
export function publicAddressPath(
  cloud: PublicAddresses,
  record: ArmInterface,
  configuration: Configuration,
): string | undefined {
  const wanted = objectAt(configuration.properties)['publicIPAddressConfiguration'];
  if (wanted === undefined) return undefined;
  const path = `${record.path}/ipConfigurations/${configuration.name}/publicIPAddresses/${textAt(wanted, 'name')}`;
  // Others are not out of a prefix, and always there.
  const isThere = prefixIn(configuration.properties) === '' || cloud.publicAddresses.has(keyOf(path));
  return isThere ? path : undefined;
}

/** Whether a configuration asks for an address of a prefix that has none left. */
export function lacksPublicAddress(cloud: PublicAddresses, record: ArmInterface): boolean {
  return record.configurations.some(
    (each) => prefixIn(each.properties) !== '' && publicAddressPath(cloud, record, each) === undefined,
  );
}

/** Gives the configurations of an interface the addresses that they ask for, and takes back the others. */
export function givePublicAddresses(cloud: PublicAddresses, record: ArmInterface): void {
  const wanted = new Map(
    record.configurations.flatMap(({ name, properties }) => {
      const prefix = prefixIn(properties);
      if (prefix === '') return [];
      const own = textAt(properties, 'publicIPAddressConfiguration', 'name');
      const path = `${record.path}/ipConfigurations/${name}/publicIPAddresses/${own}`;
      return [[keyOf(path), { path, prefixId: keyOf(prefix) }] as const];
    }),
  );
  for (const [id, { prefixId }] of cloud.publicAddresses) {
    const isOwn = id.startsWith(`${record.id}/ipconfigurations/`);
    if (isOwn && wanted.get(id)?.prefixId !== prefixId) cloud.publicAddresses.delete(id);
  }
  for (const [id, { path, prefixId }] of wanted) {
    const address = cloud.publicAddresses.has(id) ? undefined : freeAddress(cloud, prefixId);
    if (address !== undefined) cloud.publicAddresses.set(id, { id, path, prefixId, address });
  }
}

function freeAddress(cloud: PublicAddresses, prefixId: string): string | undefined {
  const block = parseIpv4Block(cloud.publicIpPrefixes.get(prefixId)?.block ?? '');
  if (block === undefined) return undefined;
  const taken = new Set([...cloud.publicAddresses.values()].map(({ address }) => address));
  for (let index = 0; index < sizeOf(block); index++) {
    const address = formatIpv4(block.first + index);
    if (!taken.has(address)) return address;
  }
  return undefined;
}
