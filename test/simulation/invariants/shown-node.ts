// What a CiliumNode shows to its agent.
import type { KubernetesObject } from '../../../src/simulator/kubernetes/objects/kubernetes-object.ts';
import type { Protocol } from '../../../src/simulator/workload/node-facts.ts';
import { type JsonObject, objectAt } from '../../../src/simulator/workload/json.ts';
import { membersOf } from './assignments.ts';

export interface ShownInterface {
  readonly id?: string;
  readonly mac?: string;
  readonly addresses?: readonly string[];
  readonly prefixes?: readonly string[];
  readonly subnet?: { readonly cidr?: string };
  readonly vpc?: { readonly 'primary-cidr'?: string };
}

export interface ShownNode {
  readonly instanceId: string;
  /** Interface by address. */
  readonly pool: Readonly<Record<string, { readonly resource?: string }>>;
  readonly interfaces: Readonly<Record<string, ShownInterface>>;
  /** State by address. */
  readonly handshakes: Readonly<Record<string, string>>;
  /** CIDRs that the agent reports as held. */
  readonly allocated: readonly string[];
}

interface Spec {
  readonly 'instance-id'?: string;
  readonly ipam?: {
    readonly pool?: ShownNode['pool'];
    readonly pools?: { readonly allocated?: readonly { readonly cidrs?: readonly string[] }[] };
  };
}

interface Status {
  readonly eni?: { readonly enis?: ShownNode['interfaces'] };
  readonly azure?: AzureStatus;
  readonly 'alibaba-cloud'?: { readonly enis?: AlibabaInterfaces };
  readonly ipam?: { readonly 'release-ips'?: ShownNode['handshakes'] };
}

export function shownNodeOf(object: KubernetesObject | undefined): ShownNode {
  const { 'instance-id': instanceId = '', ipam = {} } = (object?.['spec'] ?? {}) as Spec;
  const allocated = (ipam.pools?.allocated ?? []).flatMap(({ cidrs = [] }) => cidrs);
  const shown = statusOf(object);
  const { pool = {} } = ipam;
  return { instanceId, pool: isAzure(object) ? byKey(pool) : pool, allocated, ...shown };
}

function statusOf(object: KubernetesObject | undefined): Pick<ShownNode, 'interfaces' | 'handshakes'> {
  const { ipam = {}, ...status } = (object?.['status'] ?? {}) as Status;
  return { interfaces: interfacesIn(status), handshakes: ipam['release-ips'] ?? {} };
}

function interfacesIn({ eni, azure, 'alibaba-cloud': alibaba }: Status): ShownNode['interfaces'] {
  if (azure !== undefined) return onAzure(azure);
  return alibaba === undefined ? (eni?.enis ?? {}) : onAlibaba(alibaba.enis ?? {});
}

/** The interfaces that a merge patch of a status changes, in the form of EC2; null for those that it removes. */
export function patchedInterfaces(status: JsonObject): Readonly<Record<string, ShownInterface | null>> {
  const { 'alibaba-cloud': alibaba, azure } = status as Status;
  if (alibaba !== undefined) return onAlibaba(alibaba.enis ?? {});
  // A patch of a list has all of it.
  if (azure !== undefined) return onAzure(azure);
  return objectAt(status, 'eni', 'enis') as Readonly<Record<string, ShownInterface | null>>;
}

type AlibabaInterfaces = Readonly<
  Record<
    string,
    {
      readonly 'network-interface-id'?: string;
      readonly 'mac-address'?: string;
      readonly vswitch?: { readonly cidr?: string };
      readonly 'private-ipsets'?: readonly { readonly 'private-ip-address'?: string }[];
    } | null
  >
>;

/** In the form of EC2. */
function onAlibaba<T extends ShownInterface | null = ShownInterface>(
  interfaces: AlibabaInterfaces,
): Readonly<Record<string, T>> {
  return Object.fromEntries(
    Object.entries(interfaces).map(([id, item]) => [id, (item === null ? null : ofAlibaba(item)) as T]),
  );
}

function ofAlibaba({
  'network-interface-id': id,
  'mac-address': mac,
  vswitch: { cidr } = {},
  'private-ipsets': sets,
}: NonNullable<AlibabaInterfaces[string]>): ShownInterface {
  return {
    ...(id !== undefined && { id }),
    ...(mac !== undefined && { mac }),
    // A patch that removes what it names has null.
    ...(sets && { addresses: sets.flatMap((set) => set['private-ip-address'] ?? []) }),
    ...(cidr !== undefined && { subnet: { cidr }, vpc: { 'primary-cidr': cidr } }),
  };
}

function isAzure(object: KubernetesObject | undefined): boolean {
  return (object?.['status'] as Status | undefined)?.azure !== undefined;
}

interface AzureStatus {
  readonly interfaces?: readonly {
    readonly id?: string;
    readonly mac?: string;
    readonly gateway?: string;
    readonly cidr?: string;
    readonly addresses?: readonly { readonly ip?: string; readonly state?: string }[];
  }[];
}

/** In the form of EC2, by the keys of the model. Older agents drop the subnet, and have its CIDR in a field of its own. */
function onAzure({ interfaces = [] }: AzureStatus): ShownNode['interfaces'] {
  return Object.fromEntries(
    interfaces.map(({ id = '', mac, gateway, cidr, addresses = [] }) => [
      id.toLowerCase(),
      {
        id,
        ...(mac !== undefined && gateway !== undefined && { mac }),
        addresses: addresses.flatMap(({ ip, state }) => (state === 'succeeded' ? (ip ?? []) : [])),
        ...(cidr !== undefined && { subnet: { cidr }, vpc: { 'primary-cidr': cidr } }),
      },
    ]),
  );
}

function byKey(pool: ShownNode['pool']): ShownNode['pool'] {
  return Object.fromEntries(
    Object.entries(pool).map(([address, { resource = '' }]) => [
      address,
      { resource: resource.toLowerCase() },
    ]),
  );
}

/** Addresses that an agent of this protocol may assign to pods. */
export function offeredBy({ pool, interfaces }: ShownNode, protocol: Protocol): ReadonlySet<string> {
  if (protocol === 'crd-allocator') return new Set(Object.keys(pool));
  return new Set(
    Object.values(interfaces).flatMap(({ addresses = [], prefixes = [] }) => [
      ...addresses,
      ...prefixes.flatMap(membersOf),
    ]),
  );
}

/** Whether an agent finds what it needs to set up a pod. */
export function isRoutable(carrier: ShownInterface | undefined): boolean {
  const { mac, subnet, vpc } = carrier ?? {};
  return mac !== undefined && subnet?.cidr !== undefined && vpc?.['primary-cidr'] !== undefined;
}

/**
 * Whether an agent that restarts after a temporary change of protocol misses the address: it agreed to release it, or
 * took it from the status before the pool was written.
 */
export function isMissedAfterProtocolChange(shown: ShownNode, address: string): boolean {
  if (shown.handshakes[address] === 'ready-for-release') return true;
  return shown.pool[address] === undefined && offeredBy(shown, 'multi-pool').has(address);
}
