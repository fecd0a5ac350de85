import { describe, expect, test } from '@jest/globals';
import {
  type CapacityQuestion,
  capacityLines,
  capacityOf,
  type FoundLimits,
  nodeClassPart,
  type TypeCapacity,
} from '../../../../src/commands/max-pods/pod-capacity.ts';

const asked: CapacityQuestion = {
  firstInterfaceIndex: 0,
  usePrimaryAddress: false,
  prefixDelegation: false,
  hostNetworkPods: 2,
  mostPods: undefined,
};
const large = { interfaces: 3, addressesPerInterface: 10, prefixes: true };

describe('the pods of a node', () => {
  test.each<[string, Partial<CapacityQuestion>, number, number]>([
    ['without prefixes', {}, 27, 29],
    ['from index 1', { firstInterfaceIndex: 1 }, 18, 20],
    ['with primary addresses', { usePrimaryAddress: true }, 30, 32],
    ['with prefixes', { prefixDelegation: true }, 432, 434],
    ['with no pod in the network of the host', { hostNetworkPods: 0 }, 27, 27],
  ])('are its addresses and the pods of the host network: %s', (_, change, podAddresses, maxPods) => {
    expect(capacityOf('m5.large', large, { ...asked, ...change })).toMatchObject({ podAddresses, maxPods });
  });

  test('are no more than the cloud admits, in lines, with the reason', () => {
    const mostPods = { count: 20, by: 'The cloud' };
    const capped = capacityOf('m5.large', large, { ...asked, mostPods });

    expect(capped).toMatchObject({ podAddresses: 27, maxPods: 20 });
    expect(capacityOf('m5.large', large, { ...asked, mostPods: { count: 29, by: '' } })).not.toHaveProperty(
      'note',
    );
    expect(capacityLines([capped, capped], undefined).at(-1)?.text).toMatch(
      /^note +The cloud admits 20 pods at most on a node, not 29$/,
    );
  });

  test.each<[FoundLimits, Partial<CapacityQuestion>, string]>([
    [undefined, {}, 'the cloud knows no such type here'],
    [
      { problem: 'MaximumNetworkInterfaces is 0' },
      {},
      'what the cloud says of it cannot be used: MaximumNetworkInterfaces is 0',
    ],
    [
      large,
      { firstInterfaceIndex: 3 },
      'it has no interface for pods: 3 in all, of which the first for pods has index 3',
    ],
  ])('are unknown, with the reason: %j', (limits, change, problem) => {
    expect(capacityOf('m5.large', limits, { ...asked, ...change })).toEqual({ type: 'm5.large', problem });
  });
});

const found: readonly TypeCapacity[] = [
  capacityOf('m5.xlarge', { ...large, interfaces: 4, addressesPerInterface: 15 }, asked),
  capacityOf('m5.large', large, asked),
  capacityOf('m5.huge', undefined, asked),
];

describe('the part of a node class', () => {
  test('has the least of all types that are known, because it holds for all of them', () => {
    expect(nodeClassPart(found, { kind: 'EC2NodeClass', maxPods: ['spec', 'kubelet', 'maxPods'] })).toBe(
      '# of an EC2NodeClass: m5.xlarge 58, m5.large 29\nspec:\n  kubelet:\n    maxPods: 29\n',
    );
  });

  test('is not there if no type is known', () => {
    expect(nodeClassPart(found.slice(2), { kind: 'AKSNodeClass', maxPods: ['spec', 'maxPods'] })).toBe(
      undefined,
    );
  });
});

describe('the lines of max-pods', () => {
  test('fit a narrow terminal, and say what is wrong with a type', () => {
    const lines = capacityLines(found, 60).map(({ text }) => text);

    expect(lines).toEqual([
      'TYPE       INTERFACES  POD ADDRESSES  MAX PODS',
      'm5.xlarge           4             56        58',
      'm5.large            3             27        29',
      'm5.huge     the cloud knows no such type here',
    ]);
  });
});
