// The configurations of one interface: reads what a client wrote, refuses what Azure refuses, and finds what to add
// and what to drop.
import { type Json, type JsonObject, isObject, listAt, objectAt, textAt } from '../workload/json.ts';
import { type ArmCloud, invalidReference } from './arm-cloud.ts';
import type { ArmInterface, Configuration, Machine } from './arm-records.ts';
import { badRequest, conflict } from './arm-refusal.ts';
import { prefixIn } from './public-addresses.ts';
import { keyOf } from './resource-path.ts';

/** Configurations of one interface, and of a machine on all its interfaces (https://learn.microsoft.com/azure/azure-resource-manager/management/azure-subscription-service-limits). */
export const maxConfigurations = 256;

/** A configuration as a client wrote it. */
export interface WantedConfiguration {
  readonly name: string;
  readonly subnetId: string;
  readonly isPrimary: boolean;
  readonly isIpv6: boolean;
  /** A given address, if its allocation is static. */
  readonly address?: string;
  readonly properties: JsonObject;
}

export interface ConfigurationChange {
  readonly record: ArmInterface;
  readonly kept: readonly Configuration[];
  readonly added: readonly WantedConfiguration[];
  readonly dropped: readonly Configuration[];
  /** Every name, in the order of the client. */
  readonly order: readonly string[];
  /** Whether a configuration that stays gets or loses a public address. */
  readonly reassociates: boolean;
}

/** The change of a PUT to the configurations of an interface; refuses what Azure refuses. */
export function changeOf(cloud: ArmCloud, record: ArmInterface, list: readonly Json[]): ConfigurationChange {
  const wanted = list.map((item, index) => readConfiguration(cloud, record, item, index));
  refuseNames(record, wanted);
  refusePrimaries(record, wanted);
  refuseSubnets(cloud, record, wanted);
  refuseGroups(record, wanted);
  if (wanted.length > maxConfigurations) {
    throw badRequest(
      'IpConfigurationsOnNicExceedsLimit',
      `Network interface ${record.path} has ${wanted.length} IP configurations. At most ${maxConfigurations} are allowed.`,
    );
  }
  const current = new Map(record.configurations.map((each) => [each.name, each]));
  const kept = wanted.flatMap((each) => {
    const known = current.get(each.name);
    return known === undefined || !isSame(known, each) ? [] : { ...known, properties: each.properties };
  });
  const names = new Set(kept.map(({ name }) => name));
  const dropped = record.configurations.filter(({ name }) => !names.has(name));
  const primary = dropped.find(({ isPrimary }) => isPrimary);
  if (primary !== undefined) {
    throw badRequest(
      'PrimaryIpConfigurationCannotBeRemoved',
      `IP configuration ${primary.name} is the primary one of ${record.path} and cannot be removed or replaced.`,
    );
  }
  const added = wanted.filter(({ name }) => !names.has(name));
  const reassociates = kept.some(
    ({ name, properties }) => associationIn(properties) !== associationIn(current.get(name)?.properties),
  );
  return { record, kept, added, dropped, order: wanted.map(({ name }) => name), reassociates };
}

function associationIn(properties: JsonObject = {}): string {
  return JSON.stringify(properties['publicIPAddressConfiguration'] ?? null);
}

/** Refuses what is more than a machine may have on all its interfaces together. */
export function refuseTooMany(
  cloud: ArmCloud,
  machine: Machine | undefined,
  changes: readonly ConfigurationChange[],
): void {
  if (machine === undefined) return;
  const changed = new Map(changes.map(({ record, order }) => [record.id, order.length]));
  const total = cloud
    .interfacesOf(machine)
    .reduce((sum, { id, configurations }) => sum + (changed.get(id) ?? configurations.length), 0);
  const max = cloud.configurationsPerMachine;
  if (total <= max || !changes.some(({ added }) => added.length > 0)) return;
  throw badRequest(
    'IpConfigurationsOnVirtualMachineExceeded',
    `Virtual machine ${machine.path} has ${total} IP configurations. At most ${max} are allowed.`,
  );
}

/** Whether anything comes or goes. */
export function isChange({ added, dropped, reassociates }: ConfigurationChange): boolean {
  return added.length + dropped.length > 0 || reassociates;
}

export function drops({ dropped }: ConfigurationChange): boolean {
  return dropped.length > 0;
}

function readConfiguration(
  cloud: ArmCloud,
  record: ArmInterface,
  item: Json,
  index: number,
): WantedConfiguration {
  const name = textAt(item, 'name');
  if (!isObject(item) || !/^[A-Za-z0-9]([\w.-]{0,78}\w)?$/.test(name)) {
    throw badRequest(
      'InvalidResourceName',
      `Resource name ${name} is invalid. The name can be up to 80 characters long. It must begin with a word character, and it must end with a word character or with '_'. (ipConfigurations[${index}] of ${record.path})`,
    );
  }
  const properties = objectAt(item, 'properties');
  const subnetPath = textAt(properties, 'subnet', 'id');
  if (subnetPath === '') {
    throw badRequest(
      'SubnetNotProvided',
      `IP configuration ${name} of ${record.path} does not reference a subnet.`,
    );
  }
  const subnet = cloud.subnet(subnetPath);
  if (subnet === undefined) throw invalidReference(subnetPath, record.path);
  const prefixPath = prefixIn(properties);
  if (prefixPath !== '' && !cloud.publicIpPrefixes.has(keyOf(prefixPath)))
    throw invalidReference(prefixPath, record.path);
  const isStatic = textAt(properties, 'privateIPAllocationMethod') === 'Static';
  const address = textAt(properties, 'privateIPAddress');
  return {
    name,
    subnetId: subnet.id,
    isPrimary: properties['primary'] === true,
    isIpv6: textAt(properties, 'privateIPAddressVersion') === 'IPv6',
    ...(isStatic && address !== '' && { address }),
    properties,
  };
}

/** The same name in the same subnet, and no other address: the configuration stays. */
function isSame(known: Configuration, wanted: WantedConfiguration): boolean {
  const sameAddress = wanted.address === undefined || wanted.address === known.address;
  return known.subnetId === wanted.subnetId && sameAddress && known.state !== 'Failed';
}

function refuseNames(record: ArmInterface, wanted: readonly WantedConfiguration[]): void {
  const seen = new Set<string>();
  for (const { name } of wanted) {
    if (seen.has(name.toLowerCase())) {
      throw badRequest(
        'DuplicateResourceName',
        `Resource ${record.path} has two child resources with the same name (${name}).`,
      );
    }
    seen.add(name.toLowerCase());
  }
}

function refusePrimaries(record: ArmInterface, wanted: readonly WantedConfiguration[]): void {
  const primaries = wanted.filter(({ isPrimary }) => isPrimary).length;
  if (wanted.length === 0) {
    throw badRequest(
      'NetworkInterfaceMustHaveAtLeastOneIpConfiguration',
      `Network interface ${record.path} must have at least one IP configuration.`,
    );
  }
  if (primaries === 1 || (primaries === 0 && wanted.length === 1)) return;
  throw badRequest(
    primaries === 0 ? 'NoPrimaryIpConfigurationOnNic' : 'MultiplePrimaryIpConfigurationsOnNic',
    `Network interface ${record.path} must have exactly one primary IP configuration, and has ${primaries}.`,
  );
}

function refuseSubnets(cloud: ArmCloud, record: ArmInterface, wanted: readonly WantedConfiguration[]): void {
  const subnetIds = new Set(wanted.map(({ subnetId }) => subnetId));
  if (subnetIds.size <= 1) return;
  const ofScaleSet = keyOf(record.path).includes('/virtualmachinescalesets/');
  throw badRequest(
    ofScaleSet
      ? 'VMScaleSetIpConfigurationsOnSameNicCannotUseDifferentSubnets'
      : 'IpConfigurationsOnSameNicCannotUseDifferentSubnets',
    `IP configurations on NIC ${record.path} are using different subnets: ${[...subnetIds].map((id) => cloud.subnets.get(id)?.path ?? id).join(', ')}. All of them have to use the same subnet.`,
  );
}

function refuseGroups(record: ArmInterface, wanted: readonly WantedConfiguration[]): void {
  const groups = wanted.map(({ properties }) =>
    listAt(properties, 'applicationSecurityGroups')
      .map((group) => keyOf(textAt(group, 'id')))
      .toSorted()
      .join(),
  );
  if (new Set(groups).size <= 1) return;
  throw conflict(
    'ApplicationSecurityGroupsNotConsistentOnNic',
    `All IP configurations of network interface ${record.path} must reference the same application security groups.`,
  );
}
