import { expect, test } from '@jest/globals';
import { OwnAssignments } from './own-assignments.ts';
import { shownNodeOf } from './shown-node.ts';

const shown = {
  ...shownNodeOf(undefined),
  interfaces: { 'eni-1': { addresses: ['10.0.0.20', '10.0.0.21'] } },
};

function assigned(...addresses: readonly string[]) {
  return { AssignedPrivateIpAddresses: addresses.map((address) => ({ PrivateIpAddress: address })) };
}

test('an answer counts for the addresses that it names, not for those of another call in flight', () => {
  const assignments = new OwnAssignments(() => 5);
  assignments.assigned('one', 'eni-2', ['10.0.0.20']);
  assignments.assigned('one', 'eni-2', ['10.0.0.21']);
  assignments.onAnswer(
    'one',
    'AssignPrivateIpAddresses',
    { NetworkInterfaceId: 'eni-2' },
    assigned('10.0.0.21'),
  );
  expect(assignments.misplaced('one', 6, shown)).toEqual([
    { address: '10.0.0.21', on: 'eni-1', assignedTo: 'eni-2' },
  ]);
  expect(assignments.misplaced('one', 5, shown)).toEqual([]);
  expect(assignments.misplaced('another', 6, shown)).toEqual([]);
});

test('the answer to an attachment counts for every address of the new interface', () => {
  const assignments = new OwnAssignments(() => 5);
  assignments.assigned('one', 'eni-2', ['10.0.0.20', '10.0.0.21']);
  const answer = { AttachmentId: 'eni-attach-2' };
  assignments.onAnswer('one', 'AttachNetworkInterface', { NetworkInterfaceId: 'eni-2' }, answer);
  expect(assignments.misplaced('one', 6, shown)).toHaveLength(2);
});

test('an attachment that is only accepted counts once a read shows its end', () => {
  const assignments = new OwnAssignments(() => 5);
  const read = (Status: string): void => {
    const output = { NetworkInterfaces: [{ NetworkInterfaceId: 'eni-2', Status }] };
    assignments.onAnswer('one', 'DescribeNetworkInterfaces', {}, output);
  };
  assignments.assigned('one', 'eni-2', ['10.0.0.20', '10.0.0.21']);
  read('in-use');
  assignments.onAnswer('one', 'AttachNetworkInterface', { NetworkInterfaceId: 'eni-2' }, {});
  read('attaching');
  expect(assignments.misplaced('one', 6, shown)).toEqual([]);

  read('in-use');
  expect(assignments.misplaced('one', 6, shown)).toHaveLength(2);
});
