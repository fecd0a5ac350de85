// The requests for each resource, in the versions and forms of the SDK's typed operations.
import type { ArmId, InstanceRef, ScaleSetVm, StandaloneVm, SubnetRef } from './ids.ts';
import { withoutReadOnly } from './read-only-members.ts';
import type { ArmOperation, ArmRequest, ResourceProvider } from './arm-api.ts';
import type { JsonObject } from '../../runtime/json.ts';

const versions = {
  network: '2026-01-01',
  compute: '2026-04-01',
  /** Interfaces of scale sets are served in this version only. */
  scaleSetNetwork: '2018-10-01',
  resources: '2022-12-01',
  authorization: '2022-04-01',
} as const;

type Version = keyof typeof versions;

function get(
  operation: ArmOperation,
  provider: ResourceProvider,
  at: { readonly path: string; readonly version: Version; readonly subscriptionId: string },
): ArmRequest {
  const url = `${at.path}?api-version=${versions[at.version]}`;
  return { operation, method: 'GET', url, provider, subscriptionId: at.subscriptionId };
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

function interfacePath(id: ArmId): string {
  const [name = ''] = id.names;
  return `${groupPath(id)}/providers/Microsoft.Network/networkInterfaces/${encodeURIComponent(name)}`;
}

export function scaleSetInterfaces(set: ScaleSet): ArmRequest {
  return get('Interfaces.ListVirtualMachineScaleSetNetworkInterfaces', 'network', {
    path: `${scaleSetPath(set)}/networkInterfaces`,
    version: 'scaleSetNetwork',
    subscriptionId: set.subscriptionId,
  });
}

export function scaleSetVmInterfaces(vm: ScaleSetVm): ArmRequest {
  return get('Interfaces.ListVirtualMachineScaleSetVMNetworkInterfaces', 'network', {
    path: `${scaleSetVmPath(vm)}/networkInterfaces`,
    version: 'scaleSetNetwork',
    subscriptionId: vm.subscriptionId,
  });
}

export function interfacesInGroup(place: Place): ArmRequest {
  return listInGroup('Interfaces.List', place, 'networkInterfaces');
}

function listInGroup(operation: ArmOperation, place: Place, type: string): ArmRequest {
  return get(operation, 'network', {
    path: `${groupPath(place)}/providers/Microsoft.Network/${type}`,
    version: 'network',
    subscriptionId: place.subscriptionId,
  });
}

export function oneInterface(id: ArmId): ArmRequest {
  return get('Interfaces.Get', 'network', {
    path: interfacePath(id),
    version: 'network',
    subscriptionId: id.subscriptionId,
  });
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
  return get('PublicIPAddresses.GetVirtualMachineScaleSetPublicIPAddress', 'network', {
    path: vm + within.join(''),
    version: 'scaleSetNetwork',
    subscriptionId: id.subscriptionId,
  });
}

export function publicIpPrefixes(place: Place): ArmRequest {
  return listInGroup('PublicIPPrefixes.List', place, 'publicIPPrefixes');
}

/** Its configurations are only counted: a large subnet has tens of thousands. */
export function subnet(ref: SubnetRef): ArmRequest {
  const network = `${groupPath(ref)}/providers/Microsoft.Network/virtualNetworks/${encodeURIComponent(ref.network)}`;
  const request = get('Subnets.Get', 'network', {
    path: `${network}/subnets/${encodeURIComponent(ref.name)}`,
    version: 'network',
    subscriptionId: ref.subscriptionId,
  });
  return { ...request, counted: 'ipConfigurations' };
}

export function scaleSet(set: ScaleSet): ArmRequest {
  return get('VirtualMachineScaleSets.Get', 'compute', {
    path: scaleSetPath(set),
    version: 'compute',
    subscriptionId: set.subscriptionId,
  });
}

export function scaleSetVm(vm: ScaleSetVm): ArmRequest {
  const path = scaleSetVmPath(vm);
  const request = get('VirtualMachineScaleSetVMs.Get', 'compute', {
    path,
    version: 'compute',
    subscriptionId: vm.subscriptionId,
  });
  return { ...request, resource: path.toLowerCase() };
}

export function standaloneVm(vm: StandaloneVm): ArmRequest {
  const path = `${groupPath(vm)}/providers/Microsoft.Compute/virtualMachines/${encodeURIComponent(vm.name)}`;
  const request = get('VirtualMachines.Get', 'compute', {
    path,
    version: 'compute',
    subscriptionId: vm.subscriptionId,
  });
  return { ...request, resource: path.toLowerCase() };
}

/** Lists the subscriptions that the credentials can see. Everyone may ask. */
export function subscriptions(): ArmRequest {
  return get('Subscriptions.List', 'compute', {
    path: '/subscriptions',
    version: 'resources',
    subscriptionId: '',
  });
}

/** Reads the permissions that the roles of the caller give at a resource. */
export function permissionsAt(id: ArmId): ArmRequest {
  const parts = id.type
    .split('/')
    .map((type, index) => `${encodeURIComponent(type)}/${encodeURIComponent(id.names[index] ?? '')}`);
  const resource = `${groupPath(id)}/providers/${encodeURIComponent(id.namespace)}/${parts.join('/')}`;
  return get('Permissions.ListForResource', 'compute', {
    path: `${resource}/providers/Microsoft.Authorization/permissions`,
    version: 'authorization',
    subscriptionId: id.subscriptionId,
  });
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

export interface Replacement {
  readonly body: JsonObject;
  readonly etag: string | undefined;
  readonly effect?: ArmRequest['effect'];
}

/** The next page of a list, or the progress of a change, at a URL that an answer named. */
export function following(request: ArmRequest, url: string, operation = request.operation): ArmRequest {
  const { provider, subscriptionId, resource } = request;
  return {
    operation,
    method: 'GET',
    url,
    provider,
    subscriptionId,
    ...(resource !== undefined && { resource }),
  };
}
