import { describe, expect, test } from '@jest/globals';
import { attach } from '../../../../src/simulator/cloud/attachments.ts';
import { nothing } from '../../../../src/simulator/cloud/claims.ts';
import { noIpv6 } from '../../../../src/simulator/cloud/ipv6-claims.ts';
import {
  changeInterface,
  createInterface,
  deleteInterface,
  type InterfaceRequest,
} from '../../../../src/simulator/cloud/network-interfaces.ts';
import { networkRig, problemOf } from './network-rig.ts';

const request: InterfaceRequest = {
  subnetId: 'subnet-0000000a',
  claim: nothing,
  ipv6: noIpv6,
  type: 'interface',
  groupIds: ['sg-00000001'],
  description: '',
  tags: {},
};

describe('network interfaces', () => {
  test('are created with what the request asks for, and their subnet has that much less', () => {
    const { network } = networkRig();
    const before = network.subnets.get('subnet-0000000a')?.available ?? 0;

    const made = createInterface(network, {
      ...request,
      primaryAddress: '10.0.0.77',
      claim: { ...nothing, addresses: ['10.0.0.78'], prefixCount: 1 },
      ipv6: { ...noIpv6, prefixCount: 1, count: 1 },
    });

    expect(made).toMatchObject({ status: 'available', primaryAddress: '10.0.0.77' });
    expect(made.addresses).toEqual(['10.0.0.77', '10.0.0.78']);
    expect(made.prefixes).toEqual([expect.stringMatching(/^10\.0\.0\.\d+\/28$/)]);
    expect(made.ipv6Prefixes).toEqual([expect.stringMatching(/^2001:db8:0:a:.*\/80$/)]);
    expect(made.ipv6Addresses).toHaveLength(1);
    expect(network.subnets.get('subnet-0000000a')?.available).toBe(before - 18);
  });

  test('return everything to their subnet when they are deleted', () => {
    const { network } = networkRig();
    const before = network.snapshot();
    const made = createInterface(network, { ...request, claim: { ...nothing, count: 3, prefixCount: 2 } });

    deleteInterface(network, made.id);

    expect(network.snapshot()).toEqual(before);
  });

  test('belong to the default security group when the request names none', () => {
    const { network } = networkRig();

    const { groupIds } = createInterface(network, { ...request, groupIds: [] });

    expect(network.all('groups').get(groupIds[0] ?? '')?.name).toBe('default');
  });

  test.each([
    ['an unknown subnet', { subnetId: 'subnet-00000000' }, { kind: 'notFound', what: 'subnets' }],
    ['an unknown group', { groupIds: ['sg-00000000'] }, { kind: 'notFound', what: 'groups' }],
    ['a group of another network', { groupIds: ['sg-00000002'] }, { kind: 'groupOfOtherNetwork' }],
    ['six groups', { groupIds: Array<string>(6).fill('sg-00000001') }, { kind: 'tooManyGroups' }],
    ['an address elsewhere', { primaryAddress: '10.1.0.9' }, { kind: 'addressOutside' }],
    ['one of the cloud’s addresses', { primaryAddress: '10.0.0.2' }, { kind: 'addressReserved' }],
    ['more than any type carries', { claim: { ...nothing, count: 64 } }, { kind: 'addressLimit' }],
    [
      'an address twice',
      { primaryAddress: '10.0.0.9', claim: { ...nothing, addresses: ['10.0.0.9'] } },
      { kind: 'addressRepeated' },
    ],
    [
      'IPv6 without an IPv6 block',
      { subnetId: 'subnet-0000000b', ipv6: { ...noIpv6, count: 1 } },
      { kind: 'noIpv6' },
    ],
    ['a reserved tag', { tags: { 'aws:x': 'y' } }, { kind: 'reservedTag' }],
  ])('refuse a request with %s and change nothing', (_, change, problem) => {
    const { network } = networkRig();
    const before = network.snapshot();

    const refused = problemOf(() => createInterface(network, { ...request, ...change }));

    expect(refused).toMatchObject(problem);
    expect(network.snapshot()).toEqual(before);
  });

  test.each([
    [{ ...nothing, count: 11 }, 'noFreeAddress'],
    [{ ...nothing, prefixCount: 1 }, 'noFreePrefixAddresses'],
  ])('cannot get %j from a /28', (claim, kind) => {
    const { network } = networkRig();

    expect(
      problemOf(() => createInterface(network, { ...request, subnetId: 'subnet-0000000f', claim })),
    ).toMatchObject({ kind });
  });

  test('are not deleted while they are attached', () => {
    const { network } = networkRig();
    const { id } = createInterface(network, request);
    attach(network, { interfaceId: id, instanceId: 'i-00000001', deviceIndex: 1, cardIndex: 0 });

    expect(problemOf(() => deleteInterface(network, id))).toMatchObject({ kind: 'inUse', id });
  });

  test('can change their groups, their description and their source/destination check', () => {
    const { network } = networkRig();
    const { id } = createInterface(network, { ...request, groupIds: [] });

    changeInterface(network, id, { groupIds: ['sg-00000001'] });
    changeInterface(network, id, { description: 'new' });
    changeInterface(network, id, { sourceDestCheck: false });

    const changed = { groupIds: ['sg-00000001'], description: 'new', sourceDestCheck: false };
    expect(network.interfaces.get(id)).toMatchObject(changed);
  });
});
