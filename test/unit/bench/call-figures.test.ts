import { describe, expect, test } from '@jest/globals';
import { callFigures, callsBetween, callsInWords } from '../../../bench/call-figures.ts';

const count = (
  calls: number,
  { refused = 0, throttled = 0 }: { refused?: number; throttled?: number } = {},
): { calls: number; refused: number; throttled: number; lost: number } => ({
  calls,
  refused,
  throttled,
  lost: 0,
});

const counts = {
  AttachNetworkInterface: count(12, { refused: 1, throttled: 1 }),
  CreateNetworkInterface: count(11, { throttled: 1 }),
  DescribeNetworkInterfaces: count(4),
  DescribeSubnets: count(2, { throttled: 1 }),
  ModifyNetworkInterfaceAttribute: count(10),
};

describe('the figures of calls', () => {
  test('count each kind separately, whatever the answer was', () => {
    expect(callFigures(counts)).toEqual({
      calls: 39,
      mutating: 23,
      modify: 10,
      reads: 6,
      throttled: 3,
      created: 10,
    });
  });

  test('tell the reads of Azure from its changes', () => {
    const { mutating, reads } = callFigures({
      'NetworkInterfaces.ListVirtualMachineScaleSetNetworkInterfaces': count(3),
      'Operations.Get': count(2),
      'VirtualMachineScaleSetVMs.Get': count(5),
      'VirtualMachineScaleSetVMs.Update': count(4),
    });

    expect({ mutating, reads }).toEqual({ mutating: 4, reads: 10 });
  });

  test('are empty when there was no call', () => {
    expect(callFigures({})).toEqual({ calls: 0, mutating: 0, modify: 0, reads: 0, throttled: 0, created: 0 });
  });
});

test('callsBetween returns the later calls, those of new actions included', () => {
  const before = {
    AttachNetworkInterface: count(5, { refused: 1 }),
    DescribeSubnets: count(2, { throttled: 1 }),
  };

  const between = callsBetween(before, counts);

  expect(between['AttachNetworkInterface']).toEqual(count(7, { throttled: 1 }));
  expect(between['DescribeSubnets']).toEqual(count(0));
  expect(between['CreateNetworkInterface']).toEqual(counts.CreateNetworkInterface);
});

test('callsInWords names the calls and how many were refused', () => {
  expect(callsInWords({ ...counts, DescribeVpcs: count(0) })).toBe(
    'AttachNetworkInterface 12 (1 refused, 1 throttled), CreateNetworkInterface 11 (1 throttled), ' +
      'DescribeNetworkInterfaces 4, DescribeSubnets 2 (1 throttled), ModifyNetworkInterfaceAttribute 10',
  );
});
