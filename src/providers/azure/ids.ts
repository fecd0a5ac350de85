// Parses ARM resource ids. ARM ignores their case and changes it from answer to answer, so they are compared in lower
// case (https://learn.microsoft.com/azure/azure-resource-manager/management/resource-name-rules).

/** `/subscriptions/S/resourceGroups/G/providers/N/T1/N1/T2/N2...`, with its types in lower case. */
export interface ArmId {
  readonly subscriptionId: string;
  readonly resourceGroup: string;
  readonly namespace: string;
  /** Types joined by `/`, such as `virtualmachinescalesets/virtualmachines`. */
  readonly type: string;
  /** A name for each part of the type. */
  readonly names: readonly string[];
}

/** An instance as its id names it, all in lower case. */
export type InstanceRef = ScaleSetVm | StandaloneVm;

export interface ScaleSetVm {
  readonly kind: 'scaleSetVm';
  readonly subscriptionId: string;
  readonly resourceGroup: string;
  readonly scaleSet: string;
  /** The number of the VM in the scale set. */
  readonly number: string;
}

/** A VM of its own, or of a flexible scale set. */
export interface StandaloneVm {
  readonly kind: 'vm';
  readonly subscriptionId: string;
  readonly resourceGroup: string;
  readonly name: string;
}

const segment = /^[^/?#%\\\s\p{Cc}]{1,128}$/u;

export function parseArmId(text: string): ArmId | undefined {
  const [empty, subscriptions, subscriptionId, groups, resourceGroup, providers, namespace, ...rest] =
    text.split('/');
  const fixed = [empty, subscriptions, groups, providers].map((part) => part?.toLowerCase()).join('/');
  if (fixed !== '/subscriptions/resourcegroups/providers' || rest.length === 0 || rest.length % 2 !== 0)
    return undefined;
  if (subscriptionId === undefined || resourceGroup === undefined || namespace === undefined)
    return undefined;
  if (![subscriptionId, resourceGroup, namespace, ...rest].every((part) => segment.test(part)))
    return undefined;
  return {
    subscriptionId,
    resourceGroup,
    namespace: namespace.toLowerCase(),
    type: rest
      .filter((_, index) => index % 2 === 0)
      .join('/')
      .toLowerCase(),
    names: rest.filter((_, index) => index % 2 === 1),
  };
}

/** An id in the spelling of agents, which is lower case. */
export function instanceKey(id: string): string {
  return id.toLowerCase();
}

export function parseInstanceId(text: string): InstanceRef | undefined {
  const id = parseArmId(instanceKey(text));
  if (id === undefined || id.namespace !== 'microsoft.compute') return undefined;
  const { subscriptionId, resourceGroup, type, names } = id;
  const [first = '', second = ''] = names;
  if (type === 'virtualmachinescalesets/virtualmachines')
    return { kind: 'scaleSetVm', subscriptionId, resourceGroup, scaleSet: first, number: second };
  return type === 'virtualmachines' ? { kind: 'vm', subscriptionId, resourceGroup, name: first } : undefined;
}

/**
 * The instance id in a Node's provider ID, as the Azure cloud provider writes it: `azure:///subscriptions/...`
 * (https://github.com/kubernetes-sigs/cloud-provider-azure). In lower case, as agents write it. Undefined if it names
 * no Azure VM.
 */
export function instanceIdOf(providerId: string): string | undefined {
  if (!/^azure:\/\/\//i.test(providerId)) return undefined;
  const id = instanceKey(providerId.slice('azure://'.length));
  return parseInstanceId(id) === undefined ? undefined : id;
}

/** The scale set of an instance; undefined for one that has none of its own id. */
export function scaleSetKey(instance: InstanceRef): string | undefined {
  if (instance.kind === 'vm') return undefined;
  return `${groupKey(instance)}/${instance.scaleSet}`;
}

export function groupKey({
  subscriptionId,
  resourceGroup,
}: Pick<InstanceRef, 'subscriptionId' | 'resourceGroup'>): string {
  return `${subscriptionId}/${resourceGroup}`;
}

const interfaceTypes: ReadonlySet<string> = new Set([
  'microsoft.network/networkinterfaces',
  'microsoft.compute/virtualmachinescalesets/virtualmachines/networkinterfaces',
]);

export function parseInterfaceId(text: string): ArmId | undefined {
  const id = parseArmId(text);
  return id !== undefined && interfaceTypes.has(`${id.namespace}/${id.type}`) ? id : undefined;
}

/** The instance in the id of an interface; undefined if it names none, as for interfaces of VMs outside Uniform scale sets. */
export function instanceWithin(interfaceId: string): string | undefined {
  const instanceId = interfaceId.split('/').slice(0, -2).join('/');
  const isWithin = parseInterfaceId(interfaceId) !== undefined && parseInstanceId(instanceId) !== undefined;
  return isWithin ? instanceId : undefined;
}

const publicAddressOfScaleSet =
  'microsoft.compute/virtualmachinescalesets/virtualmachines/networkinterfaces/ipconfigurations/publicipaddresses';

/** The id of a public address of a scale-set VM. Others are resources of their own. */
export function parsePublicAddressId(text: string): ArmId | undefined {
  const id = parseArmId(text);
  return id !== undefined && `${id.namespace}/${id.type}` === publicAddressOfScaleSet ? id : undefined;
}

export function nameOfInterface(id: string): string {
  return id.slice(id.lastIndexOf('/') + 1);
}

export interface SubnetRef {
  readonly subscriptionId: string;
  readonly resourceGroup: string;
  readonly network: string;
  readonly name: string;
  /** The id of its virtual network, in the spelling of the subnet's. */
  readonly networkId: string;
}

export function parseSubnetId(text: string): SubnetRef | undefined {
  const id = parseArmId(text);
  if (id === undefined || `${id.namespace}/${id.type}` !== 'microsoft.network/virtualnetworks/subnets')
    return undefined;
  const [network = '', name = ''] = id.names;
  const networkId = text.split('/').slice(0, -2).join('/');
  return { subscriptionId: id.subscriptionId, resourceGroup: id.resourceGroup, network, name, networkId };
}

/**
 * Several times what a fleet of 10,000 VMs has. In scale sets VMs come and go under new ids, and those met longest ago are
 * gone.
 */
const maxSpellings = 200_000;

/** Gives each ARM id one spelling: ARM changes the case of ids from answer to answer, and agents compare them exactly. */
export class Spellings {
  /** Least recently met first. */
  readonly #byKey = new Map<string, string>();

  /** The spelling in which this id was met first. */
  of(id: string): string {
    const key = id.toLowerCase();
    const spelling = this.#byKey.get(key) ?? id;
    this.#byKey.delete(key);
    this.#byKey.set(key, spelling);
    if (this.#byKey.size > maxSpellings) this.#byKey.delete(this.#byKey.keys().next().value ?? key);
    return spelling;
  }
}
