import { expect, test } from '@jest/globals';
import { Received } from './own-assignments.ts';
import { shownNodeOf } from './shown-node.ts';

const shown = {
  ...shownNodeOf(undefined),
  interfaces: { 'eni-1': { addresses: ['10.0.0.20', '10.0.0.21'] } },
};

function assigned(...addresses: readonly string[]) {
  return { AssignedPrivateIpAddresses: addresses.map((address) => ({ PrivateIpAddress: address })) };
}

test('an answer tells of what it names, and not of what another call under way gave the same interface', () => {
  const received = new Received(() => 5);
  received.given('one', 'eni-2', ['10.0.0.20']);
  received.given('one', 'eni-2', ['10.0.0.21']);
  received.add('one', 'AssignPrivateIpAddresses', { NetworkInterfaceId: 'eni-2' }, assigned('10.0.0.21'));
  expect(received.misplaced('one', 6, shown)).toEqual([
    { address: '10.0.0.21', on: 'eni-1', given: 'eni-2' },
  ]);
  expect(received.misplaced('one', 5, shown)).toEqual([]);
  expect(received.misplaced('another', 6, shown)).toEqual([]);
});

test('an attachment tells of all that the interface was made with', () => {
  const received = new Received(() => 5);
  received.given('one', 'eni-2', ['10.0.0.20', '10.0.0.21']);
  received.add('one', 'AttachNetworkInterface', { NetworkInterfaceId: 'eni-2' }, {});
  expect(received.misplaced('one', 6, shown)).toHaveLength(2);
});
