// The paths of the script's resources, and objects for them.

export const ciliumNodes = '/apis/cilium.io/v2/ciliumnodes';
export const leases = '/apis/coordination.k8s.io/v1/namespaces/default/leases';
export const nodes = '/api/v1/nodes';
export const namespaces = '/api/v1/namespaces';
export const pods = '/api/v1/namespaces/default/pods';
export const configMaps = '/api/v1/namespaces/default/configmaps';
export const events = '/api/v1/namespaces/default/events';
export const ownEvents = '/apis/events.k8s.io/v1/namespaces/default/events';

export const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';

/** A CiliumNode; `more` is merged next to its metadata. */
export function ciliumNode(
  name: string,
  spec: unknown = {},
  metadata: object = {},
  more: object = {},
): object {
  return { apiVersion: 'cilium.io/v2', kind: 'CiliumNode', metadata: { name, ...metadata }, spec, ...more };
}

export function pod(name: string, spec: object = {}, metadata: object = {}): object {
  const containers = [{ name: 'main', image: 'example.org/app:1' }];
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name, ...metadata }, spec: { containers, ...spec } };
}

export function node(name: string, more: object = {}, metadata: object = {}): object {
  return { apiVersion: 'v1', kind: 'Node', metadata: { name, ...metadata }, ...more };
}
