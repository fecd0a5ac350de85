// The requests for each resource, in the versions and forms of the SDK's typed operations.
import type { ArmId, InstanceRef, ScaleSetVm, StandaloneVm, SubnetRef } from './ids.ts';
import { withoutReadOnly } from './read-only-members.ts';
import type { ArmOperation, ArmRequest, ResourceProvider } from './arm-api.ts';
import type { JsonObject } from '../../runtime/json.ts';

interface Service {
  readonly provider: ResourceProvider;
  readonly version: string;
}

const network: Service = { provider: 'network', version: '2026-01-01' };
const compute: Service = { provider: 'compute', version: '2026-04-01' };
/** Interfaces of scale sets are served in this version only. */
const scaleSetNetwork: Service = { provider: 'network', version: '2018-10-01' };

/** The reads of resources at their paths, by the service that answers them. */
const services = {
  'Interfaces.ListVirtualMachineScaleSetNetworkInterfaces': scaleSetNetwork,
  'Interfaces.ListVirtualMachineScaleSetVMNetworkInterfaces': scaleSetNetwork,
  'Interfaces.List': network,
  'Interfaces.Get': network,
  'PublicIPAddresses.GetVirtualMachineScaleSetPublicIPAddress': scaleSetNetwork,
  'PublicIPPrefixes.List': network,
  'Subnets.Get': network,
  'VirtualMachineScaleSets.Get': compute,
  'VirtualMachineScaleSetVMs.Get': compute,
  'VirtualMachines.Get': compute,
  'Subscriptions.List': { provider: 'compute', version: '2022-12-01' },
  'Permissions.ListForResource': { provider: 'compute', version: '2022-04-01' },
} as const satisfies { readonly [Operation in ArmOperation]?: Service };

function get(
  operation: keyof typeof services,
  { subscriptionId }: Pick<Place, 'subscriptionId'>,
  path: string,
): ArmRequest {
  const { provider, version } = services[operation];
  return { operation, method: 'GET', url: `${path}?api-version=${version}`, provider, subscriptionId };
}

type Place = Pick<InstanceRef, 'subscriptionId' | 'resourceGroup'>;
type ScaleSet = Omit<ScaleSetVm, 'kind' | 'number'>;

function groupPath({ subscriptionId, resourceGroup }: Place): string {
  return `/subscriptions/${encodeURIComponent(subscriptionId)}/resourceGroups/${encodeURIComponent(resourceGroup)}`;
}

function scaleSetPath(set: ScaleSet): string {
  return `${groupPath(set)}/providers/Microsoft.Compute/virtualMachineScaleSets/${encodeURIComponent(set.scaleSet)}`;
}

function scaleSetVmPath(vm: Omit<ScaleSetVm, 'kind'>): string {
  return `${scaleSetPath(vm)}/virtualMachines/${encodeURIComponent(vm.number)}`;
}

function networkPath(place: Place, type: string): string {
  return `${groupPath(place)}/providers/Microsoft.Network/${type}`;
}

export function scaleSetInterfaces(set: ScaleSet): ArmRequest {
  const path = `${scaleSetPath(set)}/networkInterfaces`;
  return get('Interfaces.ListVirtualMachineScaleSetNetworkInterfaces', set, path);
}

export function scaleSetVmInterfaces(vm: ScaleSetVm): ArmRequest {
  const path = `${scaleSetVmPath(vm)}/networkInterfaces`;
  return get('Interfaces.ListVirtualMachineScaleSetVMNetworkInterfaces', vm, path);
}

export function interfacesInGroup(place: Place): ArmRequest {
  return get('Interfaces.List', place, networkPath(place, 'networkInterfaces'));
}

export function oneInterface(id: ArmId): ArmRequest {
  const [name = ''] = id.names;
  return get('Interfaces.Get', id, `${networkPath(id, 'networkInterfaces')}/${encodeURIComponent(name)}`);
}

/** The address that a VM of a scale set has from outside. */
export function publicAddress(id: ArmId): ArmRequest {
  const [scaleSet = '', number = '', ...[nic = '', configuration = '', name = '']] = id.names;
  const vm = scaleSetVmPath({ ...id, scaleSet, number });
  const within = [
    ['networkInterfaces', nic],
    ['ipConfigurations', configuration],
    ['publicIPAddresses', name],
  ].map(([type = '', each = '']) => `/${type}/${encodeURIComponent(each)}`);
  return get('PublicIPAddresses.GetVirtualMachineScaleSetPublicIPAddress', id, vm + within.join(''));
}

export function publicIpPrefixes(place: Place): ArmRequest {
  return get('PublicIPPrefixes.List', place, networkPath(place, 'publicIPPrefixes'));
}

/** Its configurations are only counted: a large subnet has tens of thousands. */
export function subnet(ref: SubnetRef): ArmRequest {
  const path = `${networkPath(ref, 'virtualNetworks')}/${encodeURIComponent(ref.network)}/subnets`;
  const request = get('Subnets.Get', ref, `${path}/${encodeURIComponent(ref.name)}`);
  return { ...request, counted: 'ipConfigurations' };
}

export function scaleSet(set: ScaleSet): ArmRequest {
  return get('VirtualMachineScaleSets.Get', set, scaleSetPath(set));
}

export function scaleSetVm(vm: ScaleSetVm): ArmRequest {
  const path = scaleSetVmPath(vm);
  return { ...get('VirtualMachineScaleSetVMs.Get', vm, path), resource: path.toLowerCase() };
}

export function standaloneVm(vm: StandaloneVm): ArmRequest {
  const path = `${groupPath(vm)}/providers/Microsoft.Compute/virtualMachines/${encodeURIComponent(vm.name)}`;
  return { ...get('VirtualMachines.Get', vm, path), resource: path.toLowerCase() };
}

/** Lists the subscriptions that the credentials can see. Everyone may ask. */
export function subscriptions(): ArmRequest {
  return get('Subscriptions.List', { subscriptionId: '' }, '/subscriptions');
}

/** Reads the permissions that the roles of the caller give at a resource. */
export function permissionsAt(id: ArmId): ArmRequest {
  const parts = id.type
    .split('/')
    .map((type, index) => `${encodeURIComponent(type)}/${encodeURIComponent(id.names[index] ?? '')}`);
  const resource = `${groupPath(id)}/providers/${encodeURIComponent(id.namespace)}/${parts.join('/')}`;
  const path = `${resource}/providers/Microsoft.Authorization/permissions`;
  return get('Permissions.ListForResource', id, path);
}

/** Replaces what was read, if it is still in that state. */
export function replacing(
  read: ArmRequest,
  operation: 'VirtualMachineScaleSetVMs.Update' | 'Interfaces.CreateOrUpdate',
  { body, etag, effect = 'adds' }: Replacement,
): ArmRequest {
  return {
    ...read,
    operation,
    method: 'PUT',
    body: withoutReadOnly(operation, body),
    effect,
    ...(etag !== undefined && { ifMatch: etag }),
  };
}

interface Replacement {
  readonly body: JsonObject;
  readonly etag: string | undefined;
  readonly effect?: ArmRequest['effect'];
}

/** The next page of a list, or the progress of a change, at a URL that an answer named. */
export function following(request: ArmRequest, url: string, operation = request.operation): ArmRequest {
  const { provider, subscriptionId, resource } = request;
  const shared = { operation, method: 'GET', url, provider, subscriptionId } as const;
  return resource === undefined ? shared : { ...shared, resource };
}
