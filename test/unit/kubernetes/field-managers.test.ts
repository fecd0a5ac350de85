import { describe, expect, test } from '@jest/globals';
import {
  allocatorWroteAt,
  isBlockAllocator,
  isOperator,
  lastManagerOf,
} from '../../../src/kubernetes/field-managers.ts';
import type { Json, JsonObject } from '../../../src/runtime/json.ts';

const poolOf = (manager: string, time?: string): JsonObject => ({
  manager,
  operation: 'Update',
  fieldsType: 'FieldsV1',
  fieldsV1: { 'f:spec': { 'f:ipam': { 'f:pool': { 'f:10.0.0.1': {} } } } },
  ...(time !== undefined && { time }),
});
const statusOf = (manager: string, time: string): JsonObject => ({
  ...poolOf(manager, time),
  subresource: 'status',
  fieldsV1: { 'f:status': { 'f:eni': { 'f:enis': {} } } },
});

describe('the manager that last wrote the pool', () => {
  test.each<[string, Json, string | undefined]>([
    ['no manager is listed', [], undefined],
    ['the field is missing', null, undefined],
    ['the field is something else', 'x', undefined],
    ['entries are malformed', [1, null, {}, { manager: 'a', fieldsV1: 'x' }], undefined],
    ['another client wrote something else', [statusOf('a', '2026-01-01T00:00:00Z')], undefined],
    ['one wrote it', [poolOf('cilium-operator-aws', '2026-01-01T00:00:00Z')], 'cilium-operator-aws'],
    [
      'the later of two',
      [
        poolOf('kubectl-edit', '2026-01-01T00:00:09Z'),
        poolOf('cilium-operator-aws', '2026-01-01T00:00:10Z'),
        statusOf('x', '2026-01-02T00:00:00Z'),
      ],
      'cilium-operator-aws',
    ],
    [
      'Headwater wrote last, after another client may have removed something',
      [poolOf('kubectl-edit', '2026-01-01T00:00:09Z'), poolOf('headwater', '2026-01-01T00:00:10Z')],
      undefined,
    ],
    [
      'us and another within the same second',
      [poolOf('headwater', '2026-01-01T00:00:10Z'), poolOf('kubectl-edit', '2026-01-01T00:00:10Z')],
      'kubectl-edit',
    ],
    ['one without a time comes last', [poolOf('a'), poolOf('b', '2026-01-01T00:00:00Z')], 'b'],
  ])('is found when %s', (_what, managedFields, manager) => {
    const raw = { metadata: { managedFields } };

    expect(lastManagerOf(raw, 'spec', 'ipam', 'pool')).toBe(manager);
  });
});

test.each([
  ['cilium-operator-generic', true, true],
  ['cilium-operator-aws', true, true],
  ['kube-controller-manager', false, true],
  ['node-ipam-controller', false, true],
  ['aws-cloud-controller-manager', false, true],
  ['cilium-agent', false, false],
  ['kubectl-edit', false, false],
  ['kubelet', false, false],
  [undefined, false, false],
])('that %s is a cilium-operator is %s, and that it gives out blocks is %s', (manager, operator, blocks) => {
  expect([isOperator(manager), isBlockAllocator(manager)]).toEqual([operator, blocks]);
});

test.each<[string, readonly JsonObject[], number | undefined]>([
  ['an operator', [poolOf('cilium-operator-generic', '1970-01-01T00:00:05Z')], 5000],
  ['an agent', [poolOf('cilium-agent', '1970-01-01T00:00:05Z')], undefined],
  [
    'Headwater after an operator',
    [poolOf('cilium-operator-generic', '1970-01-01T00:00:05Z'), poolOf('headwater', '1970-01-01T00:00:06Z')],
    undefined,
  ],
  [
    'an operator that writes only its status',
    [statusOf('cilium-operator-generic', '1970-01-01T00:00:05Z')],
    undefined,
  ],
])('when an allocator wrote last is known if %s did', (_, managedFields, at) => {
  expect(allocatorWroteAt({ metadata: { managedFields } }, 'spec', 'ipam', 'pool')).toBe(at);
});
