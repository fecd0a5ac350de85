import { describe, expect, test } from '@jest/globals';
import {
  askedMaskSize,
  askedMaskSizes,
  exhaustedSize,
  ignoredSize,
  impossibleSize,
} from '../../../../src/blocks/allocation/asked-mask-size.ts';
import { cidr } from './holder-model.ts';

describe('the labels of a Node', () => {
  test.each<[Record<string, string>, object]>([
    [{}, {}],
    [{ 'headwater/ipv4-mask-size': '20' }, { ipv4: '20' }],
    [
      { 'headwater/ipv4-mask-size': '', 'headwater/ipv6-mask-size': 'x', other: '1' },
      { ipv4: '', ipv6: 'x' },
    ],
  ])('%j ask for %j', (labels, asked) => {
    expect(askedMaskSizes((label) => labels[label])).toEqual(asked);
  });
});

describe('a mask size', () => {
  test.each<[string, number, number | undefined]>([
    ['24', 24, 24],
    ['20', 24, 20],
    ['19', 24, undefined],
    ['25', 24, undefined],
    ['022', 24, undefined],
    ['22.0', 24, undefined],
    ['+22', 24, undefined],
    ['', 24, undefined],
    ['twenty', 24, undefined],
    ['1e1', 12, undefined],
    ['0', 3, undefined],
    ['1', 3, 1],
    ['108', 112, 108],
    ['9999999999999999999999', 112, undefined],
  ])('%j in a pool of /%i is %p', (text, usual, maskSize) => {
    expect(askedMaskSize('ipv4', text, usual).maskSize).toBe(maskSize);
  });

  test.each([
    [true, /"twenty", and that must be a whole number from 20 to 24.*it gets no block until then$/],
    [false, /: correct the label or remove it; its pod CIDR stays as it is$/],
  ])(
    'that is none is told with its label, its value and the remedy, lacking a block: %j',
    (isLacking, text) => {
      const condition = impossibleSize(askedMaskSize('ipv4', 'twenty', 24), isLacking);

      expect(condition.reason).toBe('MaskSizeInvalid');
      expect(condition.message).toMatch(/^label headwater\/ipv4-mask-size of its Node is "twenty"/);
      expect(condition.message).toMatch(text);
    },
  );

  test('of which no block is free is told with its label, its value and the remedy', () => {
    expect(exhaustedSize(askedMaskSize('ipv6', '110', 112), 'add a network')).toEqual({
      reason: 'PodCIDRsExhausted',
      message:
        'no aligned IPv6 block of /110 is free, and label headwater/ipv6-mask-size of its Node is "110": delete the objects of machines that are gone, or add a network, or remove the label',
    });
  });

  test('that comes too late is told with its label, its value and the remedy', () => {
    expect(ignoredSize(askedMaskSize('ipv4', '22', 24), cidr('10.0.0.0/24'), 'Node')).toEqual({
      reason: 'MaskSizeIgnored',
      message:
        'label headwater/ipv4-mask-size of its Node is "22", and its pod CIDR 10.0.0.0/24 stays as it is, because pods may use it: drain this node, then delete its Node and let it register again, or set the label to 24 or remove it',
    });
  });
});
