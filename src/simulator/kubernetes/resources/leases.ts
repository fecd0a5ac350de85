// Leases, for leader election among replicas.
// https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/lease-v1/
import { type FieldError, forbiddenField, invalid } from '../field-error.ts';
import { textAt, valueAt } from '../json-value.ts';
import type { KubernetesObject } from '../objects/kubernetes-object.ts';
import { ageColumn, nameColumn } from '../printing/table-column.ts';
import { int32, microTime, text } from '../schema/scalars.ts';
import { always, given, struct } from '../schema/wire-shape.ts';
import { builtInType } from './built-in-type.ts';
import type { ResourceType } from './resource-type.ts';

export const leases: ResourceType = builtInType({
  names: { group: 'coordination.k8s.io', version: 'v1', kind: 'Lease', plural: 'leases' },
  namespaced: true,
  createsOnUpdate: true,
  updatesUnconditionally: false,
  fields: {
    spec: always(
      struct('LeaseSpec', {
        holderIdentity: given(text),
        leaseDurationSeconds: given(int32),
        acquireTime: given(microTime),
        renewTime: given(microTime),
        leaseTransitions: given(int32),
        strategy: given(text),
        preferredHolder: given(text),
      }),
    ),
  },
  validate,
  columns: [
    nameColumn,
    {
      name: 'Holder',
      type: 'string',
      format: '',
      description: 'Who holds the lease.',
      priority: 0,
      cell: (object) => textAt(object, 'spec', 'holderIdentity'),
    },
    ageColumn,
  ],
});

function validate(object: KubernetesObject): readonly FieldError[] {
  const duration = valueAt(object, 'spec', 'leaseDurationSeconds');
  const transitions = valueAt(object, 'spec', 'leaseTransitions');
  const errors: FieldError[] = [];
  if (typeof duration === 'number' && duration <= 0) {
    errors.push(invalid('spec.leaseDurationSeconds', duration, 'must be greater than 0'));
  }
  if (typeof transitions === 'number' && transitions < 0) {
    errors.push(invalid('spec.leaseTransitions', transitions, 'must be greater than or equal to 0'));
  }
  if (textAt(object, 'spec', 'preferredHolder') !== '' && textAt(object, 'spec', 'strategy') === '') {
    errors.push(forbiddenField('spec.preferredHolder', 'may only be specified if `strategy` is defined'));
  }
  return errors;
}
