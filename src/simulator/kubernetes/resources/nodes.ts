// Nodes.
// https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/node-v1/
import {
  duplicate,
  type FieldError,
  forbiddenField,
  invalid,
  notSupported,
  required,
} from '../field-error.ts';
import { type JsonValue, sameJson, textAt, valueAt } from '../json-value.ts';
import type { KubernetesObject } from '../objects/kubernetes-object.ts';
import { metadataUpdateErrors } from '../objects/metadata-rules.ts';
import { labelValueRule, qualifiedName } from '../objects/names.ts';
import { nodeColumns } from '../printing/node-columns.ts';
import { stringFormat } from '../schema/formats.ts';
import { flag, int32, open, quantities, text, texts, time } from '../schema/scalars.ts';
import { always, given, list, struct } from '../schema/wire-shape.ts';
import { builtInType, unknownOwnField } from './built-in-type.ts';
import { itemsOf, partOf, withPartOf } from '../objects/object-parts.ts';
import type { ResourceType } from './resource-type.ts';

const taint = struct('Taint', {
  key: always(text),
  value: text,
  effect: always(text),
  timeAdded: given(time),
});

const condition = struct('NodeCondition', {
  type: always(text),
  status: always(text),
  lastHeartbeatTime: always(time),
  lastTransitionTime: always(time),
  reason: text,
  message: text,
});

const systemInfo = struct('NodeSystemInfo', {
  machineID: always(text),
  systemUUID: always(text),
  bootID: always(text),
  kernelVersion: always(text),
  osImage: always(text),
  containerRuntimeVersion: always(text),
  kubeletVersion: always(text),
  kubeProxyVersion: always(text),
  operatingSystem: always(text),
  architecture: always(text),
});

const endpoint = struct('DaemonEndpoint', { Port: always(int32) });
const image = struct('ContainerImage', { names: always(texts), sizeBytes: open });

export const nodes: ResourceType = builtInType({
  names: { group: '', version: 'v1', kind: 'Node', plural: 'nodes', shortNames: ['no'] },
  namespaced: false,
  storageName: 'minions',
  fields: {
    spec: always(
      struct('NodeSpec', {
        podCIDR: text,
        podCIDRs: texts,
        providerID: text,
        unschedulable: flag,
        taints: list(taint),
        configSource: given(open),
        externalID: text,
      }),
    ),
    status: always(
      struct('NodeStatus', {
        capacity: quantities,
        allocatable: quantities,
        phase: text,
        conditions: list(condition),
        addresses: list(struct('NodeAddress', { type: always(text), address: always(text) })),
        daemonEndpoints: always(struct('NodeDaemonEndpoints', { kubeletEndpoint: always(endpoint) })),
        nodeInfo: always(systemInfo),
        images: list(image),
        volumesInUse: texts,
        volumesAttached: open,
        config: given(open),
        runtimeHandlers: open,
        features: given(open),
      }),
    ),
  },
  fill,
  prepareUpdate: (next, current) => withPartOf(next, 'status', current),
  validate,
  validateUpdate,
  subresources: {
    status: {
      prepare: (next, current) => withPartOf(next, 'spec', current),
      validate: (next, current) => [
        ...metadataUpdateErrors(next.metadata, current.metadata),
        ...validateUpdate(next, current),
      ],
    },
  },
  selectableFields: [
    {
      name: 'spec.unschedulable',
      valueOf: (object) => String(valueAt(object, 'spec', 'unschedulable') === true),
    },
  ],
  unknownFieldText: unknownOwnField,
  columns: nodeColumns,
});

/** The single CIDR and the first in the list are the same. Allocatable defaults to the capacity. */
function fill(object: KubernetesObject): KubernetesObject {
  const spec = partOf(object, 'spec');
  const status = partOf(object, 'status');
  const [first = spec['podCIDR']] = itemsOf(spec, 'podCIDRs');
  const cidrs = first === undefined ? {} : { podCIDR: first, podCIDRs: spec['podCIDRs'] ?? [first] };
  const { capacity, allocatable = capacity } = status;
  const limits = capacity === undefined ? {} : { capacity, allocatable: allocatable ?? capacity };
  return { ...object, spec: { ...cidrs, ...spec, ...cidrs }, status: { ...limits, ...status, ...limits } };
}

const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

function validate(object: KubernetesObject): readonly FieldError[] {
  const cidrs = itemsOf(object, 'spec', 'podCIDRs');
  const isCidr = stringFormat('cidr');
  const detail = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)';
  return [
    ...itemsOf(object, 'spec', 'taints').flatMap(taintErrors),
    ...cidrs.flatMap((cidr, index) =>
      typeof cidr === 'string' && isCidr?.(cidr) === true
        ? []
        : [invalid(`spec.podCIDRs[${index}]`, cidr, detail)],
    ),
  ];
}

/** Taint errors have paths under metadata, as in the real server. */
function taintErrors(item: JsonValue, index: number): readonly FieldError[] {
  const path = `metadata.taints[${index}]`;
  const [key, value, effect] = ['key', 'value', 'effect'].map((name) => textAt(item, name)) as [
    string,
    string,
    string,
  ];
  return [
    ...qualifiedName(key).map((problem) => invalid(`${path}.key`, key, problem)),
    ...labelValueRule(value).map((problem) => invalid(`${path}.value`, value, problem)),
    ...effectErrors(`${path}.effect`, effect),
  ];
}

function effectErrors(field: string, effect: string): readonly FieldError[] {
  if (effect === '') return [required(field)];
  return effects.includes(effect) ? [] : [notSupported(field, effect, effects)];
}

function duplicateAddresses(object: KubernetesObject): readonly FieldError[] {
  const addresses = itemsOf(object, 'status', 'addresses');
  return addresses.flatMap((address, index) => {
    const earlier = addresses.slice(0, index).some((other) => sameJson(other, address));
    return earlier ? [duplicate(`status.addresses[${index}]`, address)] : [];
  });
}

function validateUpdate(next: KubernetesObject, current: KubernetesObject): readonly FieldError[] {
  const fixed = (field: string, what: string): readonly FieldError[] => {
    const before = valueAt(current, 'spec', field);
    if (before === undefined || sameJson(before, valueAt(next, 'spec', field))) return [];
    return [forbiddenField(`spec.${field}`, `node updates may not change ${what} except from "" to valid`)];
  };
  return [
    ...duplicateAddresses(next),
    ...fixed('podCIDRs', 'podCIDR'),
    ...fixed('providerID', 'providerID'),
    ...itemsOf(next, 'spec', 'taints').flatMap(taintErrors),
  ];
}
