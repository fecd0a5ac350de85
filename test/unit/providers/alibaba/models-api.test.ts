import { describe, expect, test } from '@jest/globals';
import { outputOf } from '../../../../src/providers/alibaba/models-api.ts';

const good = {
  NetworkInterfaceId: 'eni-1',
  InstanceId: 'i-1',
  PrivateIpSets: { PrivateIpSet: [{ PrivateIpAddress: '10.0.0.1' }] },
};

function listWith(item: unknown): unknown {
  return { RequestId: 'r-1', NetworkInterfaceSets: { NetworkInterfaceSet: [good, item] } };
}

describe('an item of a list in another form', () => {
  test.each<[string, unknown, object]>([
    ['nothing', null, {}],
    ['a number', 5, {}],
    ['a text', 'eni-2', {}],
    [
      'one with a text for a list',
      {
        NetworkInterfaceId: 'eni-2',
        InstanceId: 'i-1',
        Status: 'InUse',
        PrivateIpSets: { PrivateIpSet: 'x' },
      },
      { networkInterfaceId: 'eni-2', instanceId: 'i-1' },
    ],
    [
      'one with nothing in a list',
      { NetworkInterfaceId: 'eni-2', Tags: { Tag: [null] } },
      { networkInterfaceId: 'eni-2' },
    ],
  ])('spoils no other, and keeps its ids: %s', (_, item, kept) => {
    const { networkInterfaceSets } = outputOf('DescribeNetworkInterfaces', listWith(item));

    const shown = networkInterfaceSets?.networkInterfaceSet?.map((each): unknown =>
      JSON.parse(JSON.stringify(each)),
    );
    expect(shown).toEqual([
      {
        networkInterfaceId: 'eni-1',
        instanceId: 'i-1',
        privateIpSets: { privateIpSet: [{ privateIpAddress: '10.0.0.1' }] },
      },
      kept,
    ]);
  });

  test.each<[string, unknown]>([
    ['a list that is none', { NetworkInterfaceSets: { NetworkInterfaceSet: 'x' } }],
    ['another member in another form', { NextToken: 5, NetworkInterfaceSets: 5 }],
  ])('is not what makes an answer unreadable with %s', (_, body) => {
    expect(() => outputOf('DescribeNetworkInterfaces', body)).toThrow('the answer has another form');
  });
});
