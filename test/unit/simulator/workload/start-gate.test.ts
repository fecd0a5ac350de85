import { describe, expect, test } from '@jest/globals';
import { addressPoolOf } from '../../../../src/simulator/workload/address-pool.ts';
import { aws } from '../../../../src/simulator/workload/clouds/aws.ts';
import { isGateOpen, requiredAddresses } from '../../../../src/simulator/workload/start-gate.ts';

describe('requiredAddresses', () => {
  test.each([
    [{ 'min-allocate': 16, 'pre-allocate': 8 }, true, 16],
    [{ 'pre-allocate': 8 }, true, 8],
    [{ 'min-allocate': 0, 'pre-allocate': 3 }, false, 3],
    [{}, true, 2],
    [{}, false, 1],
  ])('answers for %j, health checking %s: %d', (ipam, healthChecking, required) => {
    expect(requiredAddresses({ spec: { ipam } }, healthChecking)).toBe(required);
  });
});

describe('isGateOpen', () => {
  const pool = { '10.0.0.1': { resource: 'eni-1' }, '10.0.0.2': { resource: 'eni-1' } };
  const vpc = { 'eni-1': { id: 'eni-1', vpc: { 'primary-cidr': '10.0.0.0/16' } } };
  const noVpc = { 'eni-1': { id: 'eni-1', vpc: { id: 'vpc-1' } } };
  const handshake = { '10.0.0.1': 'ready-for-release' };
  const wrongVpc = { 'eni-1': { id: 'eni-1', vpc: { 'primary-cidr': 'ten' } } };

  test.each([
    { name: 'enough, and a VPC', required: 2, open: true },
    { name: 'too few', required: 3, open: false },
    { name: 'no pool', pool: undefined, required: 0, open: false },
    { name: 'an empty pool', pool: {}, required: 1, open: false },
    { name: 'no VPC in the status', enis: noVpc, required: 2, open: false },
    { name: 'a VPC that does not parse', enis: wrongVpc, required: 2, open: false },
    { name: 'no interface', enis: {}, required: 2, open: false },
    {
      name: 'one good VPC among bad ones',
      enis: { ...noVpc, 'eni-2': vpc['eni-1'] },
      required: 2,
      open: true,
    },
    { name: 'addresses in the handshake count', releaseIps: handshake, required: 2, open: true },
  ])('opens only when everything is there: $name', ({ required, open, releaseIps, ...given }) => {
    const enis = given.enis ?? vpc;
    const ipam = { 'release-ips': releaseIps ?? {} };
    const node = {
      spec: { ipam: { pool: 'pool' in given ? given.pool : pool } },
      status: { eni: { enis }, ipam },
    };

    expect(isGateOpen(addressPoolOf(node), aws.interfacesOf(node, 'crd-allocator'), required)).toBe(open);
  });
});
