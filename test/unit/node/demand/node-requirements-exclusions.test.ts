import { describe, expect, test } from '@jest/globals';
import { exclusionsOf } from '../../../../src/node/demand/node-requirements.ts';
import { eni, requirements, view } from '../allocation-facts.ts';

describe('the reasons why interfaces carry no pods', () => {
  test('are listed in the order of the interfaces, without the other interfaces', () => {
    const interfaces = [
      eni(0),
      eni(1, 0, { reservedFor: 'efa' }),
      eni(2, 0, { tags: { role: 'storage' } }),
      eni(3, 0, { attachment: undefined, tags: { role: 'storage' } }),
      eni(4),
    ];
    const asked = requirements({ firstInterfaceIndex: 1, excludeInterfaceTags: { role: 'storage' } });

    expect(exclusionsOf(view(interfaces), asked)).toEqual([
      { interfaceId: 'eni-0', deviceIndex: 0, why: 'device index 0 is below first-interface-index 1' },
      { interfaceId: 'eni-1', deviceIndex: 1, why: 'it is not for pods: efa' },
      { interfaceId: 'eni-2', deviceIndex: 2, why: 'it carries the tags of exclude-interface-tags' },
      {
        interfaceId: 'eni-3',
        deviceIndex: undefined,
        why: 'device index 0 is below first-interface-index 1',
      },
    ]);
  });
});
