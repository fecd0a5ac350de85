// Parses network interfaces from ARM answers. One that cannot be parsed is reported and skipped; it does not invalidate
// the answer.
import { intern } from '../../runtime/intern.ts';
import { holdingProblem } from '../reading/plausible.ts';
import { attachedTo, type NetworkInterface } from '../contract/network-interface.ts';
import type { Observation } from '../contract/facts.ts';
import { list, text } from './arm-api.ts';
import { type Json, valueAt, isAbsent, isObject } from '../../runtime/json.ts';
import {
  instanceKey,
  instanceWithin,
  nameOfInterface,
  parseInstanceId,
  parseInterfaceId,
  parseSubnetId,
  type Spellings,
} from './ids.ts';
import { isReleasable } from './instance-model.ts';

/** An interface of an instance, before it is known which others the instance has. */
export interface ShownInterface {
  readonly id: string;
  readonly instanceId: string;
  /** Undefined if it does not say so. */
  readonly isPrimary: boolean | undefined;
  readonly read: Readable | { readonly problem: string };
}

interface Readable {
  readonly interface: Omit<NetworkInterface, 'attachment'>;
  /** Addresses of the configurations that have one, by the name of the configuration. */
  readonly addressesByName: ReadonlyMap<string, string>;
  /** Names of all configurations. */
  readonly names: ReadonlySet<string>;
  /** Configurations that a release may remove, by their addresses. */
  readonly releasable: ReadonlyMap<string, string>;
  /** The id of the public address of its primary configuration. */
  readonly publicAddressId: string | undefined;
}

/**
 * Undefined for an interface that no VM has. `owner`: the VM that names it; one of a scale set has its VM in its id. What
 * such an interface says of its VM may be spoilt, and then it cannot be read; it is not gone.
 */
export function readInterface(shown: Json, spellings: Spellings, owner?: string): ShownInterface | undefined {
  const holder = text(shown, 'properties', 'virtualMachine', 'id');
  const id = text(shown, 'id');
  const isHeld = holder !== undefined && parseInstanceId(holder) !== undefined;
  const instanceId = isHeld ? holder : (owner ?? instanceWithin(id ?? ''));
  if (instanceId === undefined) return undefined;
  const isNamed = id !== undefined && parseInterfaceId(id) !== undefined;
  return {
    id: isNamed ? spellings.of(id) : (id ?? '(without an id)'),
    instanceId: instanceKey(instanceId),
    isPrimary: saidPrimary(shown),
    read: readNamed(shown, isNamed ? spellings.of(id) : undefined, { isHeld, spellings }),
  };
}

/** The word of an interface, or of the link of a VM to it, on whether it is the primary one. */
export function saidPrimary(shown: Json): boolean | undefined {
  const said = valueAt(shown, 'properties', 'primary');
  return typeof said === 'boolean' ? said : undefined;
}

/** `id`: undefined if it is none. */
function readNamed(
  shown: Json,
  id: string | undefined,
  { isHeld, spellings }: { readonly isHeld: boolean; readonly spellings: Spellings },
): ShownInterface['read'] {
  if (id === undefined) return { problem: `its id is ${JSON.stringify(text(shown, 'id') ?? '')}` };
  const odd = oddityAmong(list(shown, 'properties', 'ipConfigurations') ?? []);
  if (odd !== undefined) return { problem: odd };
  if (isHeld) return readIts(shown, id, spellings);
  const holder = text(shown, 'properties', 'virtualMachine', 'id');
  return { problem: holder === undefined ? 'it names no VM' : `its VM is ${JSON.stringify(holder)}` };
}

interface Configuration {
  readonly name: string;
  readonly address: string | undefined;
  readonly subnetId: string | undefined;
  readonly isPrimary: boolean;
  readonly state: State;
  /** Whether a release may remove it. */
  readonly isReleasable: boolean;
  readonly publicAddressId: string | undefined;
}

type State = 'ready' | 'changing' | 'failed';

function readIts(shown: Json, id: string, spellings: Spellings): ShownInterface['read'] {
  const all = list(shown, 'properties', 'ipConfigurations') ?? [];
  const configurations = all
    .filter((item) => text(item, 'properties', 'privateIPAddressVersion') !== 'IPv6')
    .map((item) => readConfiguration(item, spellings));
  const primary = configurations.find(({ isPrimary }) => isPrimary) ?? configurations[0];
  const problem = problemOf(shown, configurations, primary);
  if (problem !== undefined) return { problem };
  const { address: primaryAddress = '', subnetId = '', publicAddressId } = primary ?? {};
  const secondary = configurations.filter((item) => item !== primary && item.address !== undefined);
  const own = stateOf(shown);
  const leaving = secondary.filter((item) => mayGo(item, own));
  const state = conditionOf(own, configurations);
  return {
    interface: {
      id,
      name: nameOfInterface(id),
      description: '',
      networkId: spellings.of(parseSubnetId(subnetId)?.networkId ?? ''),
      subnetId,
      zone: '',
      mac: macOf(shown),
      primaryAddress,
      publicAddress: publicAddressId === undefined ? undefined : '',
      addresses: secondary.flatMap(({ address }) => address ?? []),
      prefixes: [],
      securityGroupIds: securityGroupsOf(shown, spellings),
      tags: {},
      reservedFor: undefined,
      ...takenBeside(all.length - 1 - secondary.length, state),
      ...associatedAmong(secondary, leaving),
      ...amongOthers(secondary),
      ...elsewhereThan(subnetId, secondary),
      ...state,
    },
    addressesByName: usableAmong(configurations),
    names: new Set(configurations.map(({ name }) => name)),
    releasable: new Map(leaving.map(({ address = '', name }) => [address, name])),
    publicAddressId,
  };
}

function securityGroupsOf(shown: Json, spellings: Spellings): readonly string[] {
  const id = text(shown, 'properties', 'networkSecurityGroup', 'id');
  return id === undefined ? [] : [spellings.of(id)];
}

function associatedAmong(
  secondary: readonly Configuration[],
  leaving: readonly Configuration[],
): Pick<NetworkInterface, 'associated'> {
  const free = new Set(leaving);
  const associated = secondary.flatMap((item) => (free.has(item) ? [] : (item.address ?? [])));
  return associated.length > 0 ? { associated } : {};
}

function amongOthers(secondary: readonly Configuration[]): Pick<NetworkInterface, 'ofOthers'> {
  const ofOthers = secondary.flatMap((item) => (item.isReleasable ? [] : (item.address ?? [])));
  return ofOthers.length > 0 ? { ofOthers } : {};
}

/** Azure's limit counts every configuration. One without an address may still get it from a change that is under way. */
function takenBeside(
  count: number,
  { condition }: Pick<NetworkInterface, 'condition'>,
): Pick<NetworkInterface, 'placesTaken'> {
  return count > 0 && condition !== 'changing' ? { placesTaken: count } : {};
}

/**
 * Azure shows the state of an interface for each of its configurations, too. So one that failed together with its interface
 * may go, as that interface may grow; of one that is changing nothing leaves, because its interface is changing.
 */
function mayGo({ isReleasable: isOurs, state }: Configuration, own: State | undefined): boolean {
  return isOurs && (state !== 'failed' || own === 'failed');
}

function elsewhereThan(
  own: string,
  secondary: readonly Configuration[],
): Pick<NetworkInterface, 'addressSubnets'> {
  const elsewhere = secondary.flatMap(({ address = '', subnetId = own }) =>
    subnetId === own ? [] : [[address, subnetId] as const],
  );
  return elsewhere.length > 0 ? { addressSubnets: new Map(elsewhere) } : {};
}

function usableAmong(configurations: readonly Configuration[]): ReadonlyMap<string, string> {
  return new Map(
    configurations.flatMap(({ name, address, state }) =>
      address === undefined || state !== 'ready' ? [] : [[name, address]],
    ),
  );
}

function readConfiguration(shown: Json, spellings: Spellings): Configuration {
  const address = text(shown, 'properties', 'privateIPAddress');
  const subnetId = text(shown, 'properties', 'subnet', 'id');
  const publicAddressId = text(shown, 'properties', 'publicIPAddress', 'id');
  return {
    name: text(shown, 'name') ?? '',
    address: address && intern(address),
    subnetId: subnetId && spellings.of(subnetId),
    isPrimary: valueAt(shown, 'properties', 'primary') === true,
    state: stateOf(shown) ?? 'ready',
    isReleasable: isReleasable(shown),
    publicAddressId: publicAddressId && spellings.of(publicAddressId),
  };
}

/** Undefined if it says nothing of its state. */
function stateOf(shown: Json): State | undefined {
  const state = text(shown, 'properties', 'provisioningState')?.toLowerCase();
  if (state === undefined) return undefined;
  if (state === 'succeeded') return 'ready';
  return state === 'failed' || state === 'canceled' ? 'failed' : 'changing';
}

/**
 * The interface's own state is that of its last change, and its configurations show it, too. If that change failed, the next
 * one may succeed, and what it has stays usable. An interface of which only a configuration failed takes no more.
 */
function conditionOf(
  own: State | undefined,
  configurations: readonly Configuration[],
): Pick<NetworkInterface, 'condition'> {
  if (own === 'changing' || configurations.some(({ state }) => state === 'changing'))
    return { condition: 'changing' };
  if (own === 'failed') return {};
  const hasFailed = configurations.some(({ state, address }) => state === 'failed' && address !== undefined);
  return hasFailed ? { condition: 'failed' } : {};
}

/** Azure writes 00-0D-3A-00-00-01. */
function macOf(shown: Json): string {
  return (text(shown, 'properties', 'macAddress') ?? '').replaceAll('-', ':');
}

function problemOf(
  shown: Json,
  configurations: readonly Configuration[],
  primary: Configuration | undefined,
): string | undefined {
  const mac = macOf(shown);
  if (mac === '') return 'it has no MAC address; its VM may be deallocated';
  if (!/^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/i.test(mac)) return `${JSON.stringify(mac)} is not a MAC address`;
  if (stateOf(shown) === undefined) return 'its provisioningState is missing';
  if (primary === undefined) return 'it has no IPv4 configuration';
  if (primary.address === undefined) return 'its primary configuration has no address';
  if (primary.subnetId === undefined) return 'its primary configuration names no subnet';
  const wrong = configurations.find(({ subnetId }) => subnetId !== undefined && !parseSubnetId(subnetId));
  if (wrong !== undefined) return `${JSON.stringify(wrong.subnetId)} is no subnet`;
  return holdingProblem(configurations.flatMap(({ address }) => address ?? []));
}

/** The interfaces of one instance, each in its place: the primary one first, then by id. */
export function inPlaces(shown: readonly ShownInterface[]): readonly Observation[] {
  const others = shown.filter(({ isPrimary }) => isPrimary !== true).map(({ id }) => id);
  others.sort((a, b) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1));
  // Before its second interface, a VM may show its only one without the mark. One that says that it is not the primary one
  // shows that another is missing.
  const first = shown.length === 1 && shown[0]?.isPrimary === undefined ? 0 : 1;
  return shown.map(({ id, instanceId, isPrimary, read }) => {
    const deviceIndex = isPrimary === true ? 0 : others.indexOf(id) + first;
    if ('problem' in read) {
      const { problem } = read;
      const slot = { id, instanceId, deviceIndex, networkCard: 0 };
      return { kind: 'unreadableInterface', interface: { ...slot, problem } };
    }
    return {
      kind: 'interface',
      interface: { ...read.interface, attachment: attachedTo(instanceId, deviceIndex) },
    };
  });
}

// An item in another form than Azure's hides an address or an interface that is not missing.

/**
 * Why nobody can tell whose interface an item of a list is, if it is one; undefined if it names its VM, or that it has none.
 * `owner`: the VM whose list it is.
 */
export function unclearIn(shown: Json, owner?: string): string | undefined {
  if (!isObject(shown)) return 'it is no object';
  const id = text(shown, 'id') ?? '';
  if (parseInterfaceId(id) === undefined) return `its id is ${JSON.stringify(shown['id'] ?? '')}`;
  return (owner ?? instanceWithin(id)) === undefined ? unclearHolder(shown['properties']) : undefined;
}

function unclearHolder(properties: Json | undefined): string | undefined {
  if (!isObject(properties)) return 'its properties are no object';
  const holder = properties['virtualMachine'];
  if (isAbsent(holder) || text(holder, 'id') !== undefined) return undefined;
  return `its VM is ${JSON.stringify(holder)}`;
}

/** The fault in the form of the first configuration that has one. */
function oddityAmong(configurations: readonly Json[]): string | undefined {
  const odd = configurations.find((item) => !isConfiguration(item));
  if (odd === undefined) return undefined;
  return isObject(odd)
    ? `the configuration ${JSON.stringify(odd['name'] ?? '')} is in another form`
    : 'a configuration is no object';
}

function isConfiguration(item: Json): boolean {
  const properties = isObject(item) ? item['properties'] : undefined;
  if (text(item, 'name') === undefined || !isObject(properties)) return false;
  const { privateIPAddress: address, primary } = properties;
  return [
    isAbsent(address) || typeof address === 'string',
    isAbsent(primary) || typeof primary === 'boolean',
  ].every(Boolean);
}
