// The API server's defaults for pods.
import { type JsonObject, type JsonValue, textAt, valueAt } from '../../json-value.ts';
import type { KubernetesObject } from '../../objects/kubernetes-object.ts';
import { itemsOf, partOf } from '../../objects/object-parts.ts';

/** A copy of a decoded pod with its defaults. */
export function withPodDefaults(pod: KubernetesObject): KubernetesObject {
  const spec = partOf(pod, 'spec');
  return { ...pod, spec: filledSpec(spec), status: filledStatus(partOf(pod, 'status')) };
}

function filledSpec(spec: JsonObject): JsonObject {
  const hostNetwork = spec['hostNetwork'] === true;
  const account = textAt(spec, 'serviceAccountName') || textAt(spec, 'serviceAccount');
  return {
    ...spec,
    ...filledContainers(spec, 'initContainers', hostNetwork),
    ...filledContainers(spec, 'containers', hostNetwork),
    restartPolicy: spec['restartPolicy'] ?? 'Always',
    terminationGracePeriodSeconds: spec['terminationGracePeriodSeconds'] ?? 30,
    dnsPolicy: spec['dnsPolicy'] ?? 'ClusterFirst',
    ...(account === '' ? {} : { serviceAccountName: account, serviceAccount: account }),
    securityContext: spec['securityContext'] ?? {},
    schedulerName: spec['schedulerName'] ?? 'default-scheduler',
    enableServiceLinks: spec['enableServiceLinks'] ?? true,
  };
}

function filledContainers(spec: JsonObject, name: string, hostNetwork: boolean): JsonObject {
  const containers = itemsOf(spec, name);
  return containers.length === 0
    ? {}
    : { [name]: containers.map((item) => filledContainer(item, hostNetwork)) };
}

function filledContainer(container: JsonValue, hostNetwork: boolean): JsonObject {
  const given = container as JsonObject;
  const ports = itemsOf(given, 'ports').map((port) => filledPort(port as JsonObject, hostNetwork));
  return {
    ...given,
    ...(ports.length === 0 ? {} : { ports }),
    resources: filledResources(partOf(given, 'resources')),
    terminationMessagePath: given['terminationMessagePath'] ?? '/dev/termination-log',
    terminationMessagePolicy: given['terminationMessagePolicy'] ?? 'File',
    imagePullPolicy: given['imagePullPolicy'] ?? pullPolicyOf(textAt(given, 'image')),
  };
}

function filledPort(port: JsonObject, hostNetwork: boolean): JsonObject {
  const hostPort = hostNetwork ? { hostPort: port['hostPort'] ?? port['containerPort'] ?? 0 } : {};
  return { ...port, ...hostPort, protocol: port['protocol'] ?? 'TCP' };
}

/** A request defaults to the limit. */
function filledResources(resources: JsonObject): JsonObject {
  const limits = partOf(resources, 'limits');
  const requests = { ...limits, ...partOf(resources, 'requests') };
  return Object.keys(requests).length === 0 ? resources : { ...resources, requests };
}

/** Only a tag other than `latest` is considered fixed. */
function pullPolicyOf(image: string): string {
  const name = image.split('/').at(-1) ?? '';
  if (name.includes('@')) return 'IfNotPresent';
  const tag = name.split(':')[1] ?? 'latest';
  return tag === 'latest' ? 'Always' : 'IfNotPresent';
}

/** The single address and the first in the list are the same; the single one wins. */
function filledStatus(status: JsonObject): JsonObject {
  return { phase: 'Pending', ...status, ...oneAddress(status, 'podIP'), ...oneAddress(status, 'hostIP') };
}

function oneAddress(status: JsonObject, name: 'hostIP' | 'podIP'): JsonObject {
  const single = textAt(status, name);
  const several = itemsOf(status, `${name}s`);
  const [first] = several;
  if (name === 'hostIP' && first === undefined) return {};
  if (single !== '') {
    const agree = textAt(first, 'ip') === single;
    return { [name]: single, [`${name}s`]: agree ? several : [{ ip: single }] };
  }
  return first === undefined ? {} : { [name]: valueAt(first, 'ip') ?? '', [`${name}s`]: several };
}

const computeResources = ['cpu', 'memory'];

/**
 * The QoS class, which orders eviction under pressure.
 * https://kubernetes.io/docs/concepts/workloads/pods/pod-qos/
 */
export function qosClassOf(pod: KubernetesObject): string {
  const containers = [...itemsOf(pod, 'spec', 'containers'), ...itemsOf(pod, 'spec', 'initContainers')];
  const amounts = (container: JsonValue, part: string, resource: string): JsonValue | undefined =>
    valueAt(container, 'resources', part, resource);
  const asks = containers.some((container) =>
    computeResources.some((resource) => amounts(container, 'requests', resource) !== undefined),
  );
  if (!asks) return 'BestEffort';
  const bound = containers.every((container) =>
    computeResources.every((resource) => {
      const limit = amounts(container, 'limits', resource);
      return limit !== undefined && amounts(container, 'requests', resource) === limit;
    }),
  );
  return bound ? 'Guaranteed' : 'Burstable';
}
