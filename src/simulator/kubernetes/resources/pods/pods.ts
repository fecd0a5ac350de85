// Pods. A pod on a node ends only after its grace period: the kubelet, or its stand-in, deletes it again
// without grace.
// https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#pod-termination
import { textAt, valueAt } from '../../json-value.ts';
import type { KubernetesObject } from '../../objects/kubernetes-object.ts';
import { immutable, metadataUpdateErrors } from '../../objects/metadata-rules.ts';
import { withMetadata } from '../../objects/object-meta.ts';
import { partOf, withPartOf } from '../../objects/object-parts.ts';
import { podColumns } from '../../printing/pod-columns.ts';
import { builtInType, unknownOwnField } from '../built-in-type.ts';
import type { ResourceType, SelectableField } from '../resource-type.ts';
import { qosClassOf, withPodDefaults } from './pod-defaults.ts';
import { podErrors, podUpdateErrors } from './pod-rules.ts';
import { podFields } from './pod-shape.ts';

export const pods: ResourceType = builtInType({
  names: {
    group: '',
    version: 'v1',
    kind: 'Pod',
    plural: 'pods',
    shortNames: ['po'],
    categories: ['all'],
  },
  namespaced: true,
  returnsDeleted: true,
  fields: podFields,
  fill: withPodDefaults,
  prepareCreate: (pod) => ({ ...pod, status: { phase: 'Pending', qosClass: qosClassOf(pod) } }),
  prepareUpdate: (next, current) => withPartOf(next, 'status', current),
  validate: podErrors,
  validateUpdate: podUpdateErrors,
  deletion: { gracePeriod },
  subresources: {
    status: {
      prepare: statusOnly,
      validate: (next, current) => [
        ...metadataUpdateErrors(next.metadata, current.metadata),
        ...immutable(
          'status.qosClass',
          textAt(next, 'status', 'qosClass'),
          textAt(current, 'status', 'qosClass'),
        ),
      ],
    },
    binding: {
      prepare: (next) => next,
      validate: (next, current) => metadataUpdateErrors(next.metadata, current.metadata),
    },
  },
  selectableFields: [
    specField('nodeName'),
    specField('restartPolicy'),
    specField('schedulerName'),
    specField('serviceAccountName'),
    {
      name: 'spec.hostNetwork',
      valueOf: (pod) => String(valueAt(pod, 'spec', 'hostNetwork') === true),
    },
    { name: 'status.phase', valueOf: (pod) => textAt(pod, 'status', 'phase') },
    { name: 'status.podIP', valueOf: (pod) => textAt(pod, 'status', 'podIP') },
    { name: 'status.nominatedNodeName', valueOf: (pod) => textAt(pod, 'status', 'nominatedNodeName') },
  ],
  unknownFieldText: unknownOwnField,
  columns: podColumns,
});

function specField(name: string): SelectableField {
  return { name: `spec.${name}`, valueOf: (pod) => textAt(pod, 'spec', name) };
}

/** Labels and annotations may change with the status, owners may not; an omitted QoS class stays unchanged. */
function statusOnly(next: KubernetesObject, current: KubernetesObject): KubernetesObject {
  const qosClass = textAt(next, 'status', 'qosClass') || textAt(current, 'status', 'qosClass');
  const { ownerReferences } = current.metadata;
  return {
    ...withMetadata(withPartOf(next, 'spec', current), { ownerReferences }),
    status: { ...partOf(next, 'status'), qosClass },
  };
}

const ended: readonly string[] = ['Failed', 'Succeeded'];

function gracePeriod(pod: KubernetesObject, requested: number | undefined): number {
  const onNode = textAt(pod, 'spec', 'nodeName') !== '';
  if (!onNode || ended.includes(textAt(pod, 'status', 'phase'))) return 0;
  const period = requested ?? valueAt(pod, 'spec', 'terminationGracePeriodSeconds');
  return typeof period === 'number' ? Math.max(period, period < 0 ? 1 : 0) : 0;
}
