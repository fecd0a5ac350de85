// Pods as the workload creates them and as a kubelet reads them.
import { type JsonObject, numberAt, objectAt, textAt, valueAt } from './json.ts';

export interface PodRequest {
  readonly name: string;
  readonly nodeName: string;
  readonly hostNetwork: boolean;
  /** Grace period, in seconds. */
  readonly grace: number;
}

export interface Pod {
  /** `namespace/name`. */
  readonly key: string;
  readonly uid: string;
  readonly hostNetwork: boolean;
  /** Its deletion was requested. */
  readonly isDeleting: boolean;
  /** Grace period, in ms. */
  readonly grace: number;
  /** It has terminated and needs no address. */
  readonly isFinished: boolean;
}

/** The namespace of every pod of the workload. */
const namespace = 'default';

export const podsPath = '/api/v1/pods';

export const podCollectionPath = `/api/v1/namespaces/${namespace}/pods`;

export function podKey(name: string): string {
  return `${namespace}/${name}`;
}

/** Path of the object; `key` is in the form of `podKey`. */
export function podPath(key: string): string {
  const [space = '', name = ''] = key.split('/');
  return `/api/v1/namespaces/${space}/pods/${name}`;
}

export function newPod(request: PodRequest): JsonObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: request.name, namespace, labels: { app: 'workload' } },
    spec: {
      nodeName: request.nodeName,
      ...(request.hostNetwork && { hostNetwork: true }),
      terminationGracePeriodSeconds: request.grace,
      automountServiceAccountToken: false,
      containers: [{ name: 'pause', image: 'pause:3.10' }],
    },
  };
}

export function podOf(object: JsonObject): Pod {
  const metadata = objectAt(object, 'metadata');
  const phase = textAt(object, 'status', 'phase');
  return {
    key: `${textAt(metadata, 'namespace')}/${textAt(metadata, 'name')}`,
    uid: textAt(metadata, 'uid'),
    hostNetwork: valueAt(object, 'spec', 'hostNetwork') === true,
    isDeleting: textAt(metadata, 'deletionTimestamp') !== '',
    grace: 1_000 * numberAt(metadata, 'deletionGracePeriodSeconds'),
    isFinished: phase === 'Succeeded' || phase === 'Failed',
  };
}

export interface PodAddresses {
  readonly host: string;
  readonly pod: string;
  readonly ipv6?: string | undefined;
}

/** A merge patch for the status of a running pod; it fails if the pod has another `uid`. */
export function runningPatch(uid: string, addresses: PodAddresses, start: Date): JsonObject {
  return {
    metadata: { uid },
    status: {
      phase: 'Running',
      hostIP: addresses.host,
      podIP: addresses.pod,
      podIPs: [addresses.pod, addresses.ipv6].flatMap((ip) => (ip === undefined ? [] : { ip })),
      startTime: `${start.toISOString().slice(0, 19)}Z`,
      conditions: [{ type: 'Ready', status: 'True' }],
    },
  };
}
