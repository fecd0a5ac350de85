// Carries out a change of configurations in two moments: its beginning takes the addresses from the subnets and shows
// them as updating; its end gives them to the interfaces, or takes them back if the operation failed. A dropped address
// is not the interface's from the beginning on, and its subnet has it again at the end.
import { claim, nothing, release } from '../cloud/claims.ts';
import { CloudRefusal } from '../cloud/cloud-refusal.ts';
import { parseIpv4Block, sizeOf } from '../cloud/ipv4.ts';
import type { ArmCloud } from './arm-cloud.ts';
import type { ArmInterface, Configuration, ProvisioningState } from './arm-records.ts';
import { type ArmRefusal, badRequest } from './arm-refusal.ts';
import type { ConfigurationChange, WantedConfiguration } from './configurations.ts';

/** Addresses by configuration, of one change. */
type Claims = ReadonlyMap<string, string>;

/** A change under way. */
export interface StartedChange {
  readonly interfaceId: string;
  readonly before: ArmInterface;
  readonly added: readonly Configuration[];
  readonly dropped: readonly Configuration[];
}

/** Begins all changes of one request, or refuses and changes nothing. */
export function beginChanges(
  cloud: ArmCloud,
  changes: readonly ConfigurationChange[],
  operationId: string,
): readonly StartedChange[] {
  const claims = claimAll(cloud, changes);
  return changes.map((change, index) => {
    const claimed = claims[index] ?? new Map<string, string>();
    const added = change.added.map((each) => newConfiguration(cloud, each, claimed, 'Updating'));
    const { record } = change;
    cloud.putInterface({
      ...record,
      configurations: ordered(change, added),
      state: 'Updating',
      etag: cloud.newEtag(),
      operationId,
    });
    return { interfaceId: record.id, before: record, added, dropped: change.dropped };
  });
}

export interface OperationFailure {
  readonly code: string;
  readonly message: string;
  /** Whether half of its changes stay. */
  readonly isHalfDone?: boolean;
}

/** Ends what `beginChanges` began. */
export function endChanges(
  cloud: ArmCloud,
  changes: readonly StartedChange[],
  failure: OperationFailure | undefined,
): void {
  const hasFailed = failure !== undefined;
  for (const change of changes) {
    const { added, dropped } = change;
    const record = cloud.interfaces.current.get(change.interfaceId);
    // Its machine was deleted meanwhile, and gave everything back; what was dropped is still to be freed.
    if (record === undefined) {
      free(cloud, dropped);
      continue;
    }
    const { operationId: _, ...rest } = record;
    const after = failure === undefined ? record.configurations : afterFailure(change, failure);
    const left = new Set(after.map(({ name }) => name));
    free(
      cloud,
      [...added, ...dropped].filter(({ name }) => !left.has(name)),
    );
    cloud.putInterface({
      ...rest,
      configurations: after.map(settled),
      state: hasFailed ? 'Failed' : 'Succeeded',
      etag: cloud.newEtag(),
    });
  }
}

/** Without what it added, and with what it dropped; or, if it is half done, with half of both. */
function afterFailure(
  { before, added, dropped }: StartedChange,
  { isHalfDone = false }: OperationFailure,
): readonly Configuration[] {
  if (!isHalfDone) return before.configurations;
  const gone = new Set(dropped.slice(0, Math.ceil(dropped.length / 2)).map(({ name }) => name));
  const stays = before.configurations.filter(({ name }) => !gone.has(name));
  return [...stays, ...added.slice(0, Math.floor(added.length / 2))];
}

/** A new interface's configurations, with their addresses; refuses what does not fit and takes nothing. */
export function firstConfigurations(
  cloud: ArmCloud,
  change: ConfigurationChange,
  state: ProvisioningState,
): readonly Configuration[] {
  const [claimed = new Map<string, string>()] = claimAll(cloud, [change]);
  return change.added.map((each) => newConfiguration(cloud, each, claimed, state));
}

/** Gives the addresses of configurations back to their subnets. */
export function free(cloud: ArmCloud, configurations: readonly Configuration[]): void {
  for (const { subnetId, address } of configurations) {
    if (address !== undefined) release(cloud.network, subnetId, { addresses: [address], prefixes: [] });
  }
}

function settled(configuration: Configuration): Configuration {
  return configuration.state === 'Succeeded' ? configuration : { ...configuration, state: 'Succeeded' };
}

function newConfiguration(
  cloud: ArmCloud,
  wanted: WantedConfiguration,
  claimed: Claims,
  state: ProvisioningState,
): Configuration {
  const address = claimed.get(wanted.name);
  return {
    name: wanted.name,
    subnetId: wanted.subnetId,
    isPrimary: wanted.isPrimary,
    ...(address !== undefined && { address }),
    state,
    etag: cloud.newEtag(),
    properties: wanted.properties,
  };
}

function ordered(change: ConfigurationChange, added: readonly Configuration[]): readonly Configuration[] {
  const all = new Map([...change.kept, ...added].map((each) => [each.name, each]));
  return change.order.flatMap((name) => all.get(name) ?? []);
}

function claimAll(cloud: ArmCloud, changes: readonly ConfigurationChange[]): readonly Claims[] {
  const done: { readonly subnetId: string; readonly claims: Claims }[] = [];
  try {
    for (const { added } of changes) {
      const wanted = added.filter(({ isIpv6 }) => !isIpv6);
      const [first] = wanted;
      const claims = first === undefined ? new Map<string, string>() : claimOf(cloud, first.subnetId, wanted);
      done.push({ subnetId: first?.subnetId ?? '', claims });
    }
    return done.map(({ claims }) => claims);
  } catch (refusal) {
    for (const { subnetId, claims } of done) {
      if (claims.size > 0)
        release(cloud.network, subnetId, { addresses: [...claims.values()], prefixes: [] });
    }
    throw refusal;
  }
}

/** Takes the addresses of one interface, given ones first. */
function claimOf(cloud: ArmCloud, subnetId: string, wanted: readonly WantedConfiguration[]): Claims {
  const given = wanted.filter(({ address }) => address !== undefined);
  const open = wanted.filter(({ address }) => address === undefined);
  try {
    const { addresses } = claim(cloud.network, subnetId, {
      ...nothing,
      count: open.length,
      addresses: given.flatMap(({ address }) => address ?? []),
    });
    return new Map([...given, ...open].map(({ name }, index) => [name, addresses[index] ?? '']));
  } catch (error) {
    if (!(error instanceof CloudRefusal)) throw error;
    throw refusalOf(cloud, subnetId, wanted, error);
  }
}

function refusalOf(
  cloud: ArmCloud,
  subnetId: string,
  wanted: readonly WantedConfiguration[],
  { problem }: CloudRefusal,
): ArmRefusal {
  const { name = '', block = '' } = cloud.subnets.get(subnetId) ?? {};
  const address = 'address' in problem ? problem.address : '';
  switch (problem.kind) {
    case 'noFreeAddress':
      return badRequest(
        'SubnetIsFull',
        `Subnet ${name} with address prefix ${block} does not have enough capacity for ${wanted.length} IP addresses.`,
      );
    case 'addressOutside':
      return badRequest(
        'PrivateIPAddressNotInSubnet',
        `Private static IP address ${address} does not belong to the range of subnet prefix ${block}.`,
      );
    case 'addressReserved':
      return badRequest(
        'PrivateIPAddressInReservedRange',
        `Private static IP address ${address} falls within reserved IP range of subnet prefix ${block}.`,
      );
    case 'addressHeld':
    case 'addressRepeated':
      return badRequest(
        'PrivateIPAddressIsAllocated',
        `IP address ${address} is already allocated in subnet ${name}.`,
      );
    default:
      return badRequest('InvalidRequestFormat', `Cannot parse the request: ${problem.kind} ${address}.`);
  }
}

/** Addresses of a subnet that clients can have: all but Azure's five. */
export function capacityOf(block: string): number {
  const parsed = parseIpv4Block(block);
  return parsed === undefined ? 0 : Math.max(0, sizeOf(parsed) - 5);
}
