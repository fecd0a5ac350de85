import { describe, expect, test } from '@jest/globals';
import { aws } from '../../../../src/simulator/workload/clouds/aws.ts';
import { resolveInterface } from '../../../../src/simulator/workload/routing-facts.ts';

const whole = {
  id: 'eni-1',
  mac: '02:00:00:00:00:01',
  subnet: { id: 'subnet-1', cidr: '10.0.1.0/24' },
  vpc: { id: 'vpc-1', 'primary-cidr': '10.0.0.0/16', cidrs: ['10.1.0.0/16'] },
};

function resolve(entry: object, id = 'eni-1') {
  const node = { status: { eni: { enis: { 'eni-1': { ...whole, ...entry } } } } };
  return resolveInterface(aws.interfacesOf(node, 'crd-allocator'), id);
}

describe('resolveInterface', () => {
  test('returns all facts, and 0 for a number that is absent', () => {
    expect(resolve({})).toEqual({
      kind: 'resolved',
      facts: {
        interfaceId: 'eni-1',
        mac: '02:00:00:00:00:01',
        interfaceNumber: 0,
        gateway: '10.0.1.1',
        cidrs: ['10.0.0.0/16', '10.1.0.0/16'],
      },
    });
  });

  test.each([
    ['another interface', {}, 'eni-2', 'unable to find ENI eni-2'],
    ['no MAC', { mac: '' }, 'eni-1', 'ENI eni-1 has no MAC address'],
    ['no subnet CIDR', { subnet: { id: 'subnet-1' } }, 'eni-1', 'ENI eni-1 has no subnet CIDR'],
    ['no VPC', { vpc: {} }, 'eni-1', 'ENI eni-1 has no primary VPC CIDR'],
    ['a VPC without further CIDRs is enough', { vpc: { 'primary-cidr': '10.0.0.0/16' } }, 'eni-1', undefined],
  ])('answers for each gap: %s', (_, entry, id, reason) => {
    const resolution = resolve(entry, id);

    expect(resolution.kind === 'unresolved' ? resolution.reason : undefined).toBe(reason);
  });
});
