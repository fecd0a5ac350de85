// Deliberate mistakes in what only Alibaba Cloud has. Seeds on Alibaba Cloud must detect them.
import type { Mutant } from './mutant.ts';

const seeds = 'alibaba:1..100';

const onAlibaba = (name: string, file: string, from: string, to: string): Mutant => ({
  name,
  edits: [{ file, from, to }],
  seeds,
});

export const alibabaMutants: readonly Mutant[] = [
  onAlibaba(
    'a repeated assignment has a token of its own',
    'providers/alibaba/perform.ts',
    '...(operationId !== undefined && { clientToken: operationId }),',
    '...(operationId !== undefined && { clientToken: `${operationId} ${call.clock.monotonic()}` }),',
  ),
  onAlibaba(
    'the index of a new interface is the number of interfaces',
    'node/allocate/instance-room.ts',
    'while (taken.has(index)) index++;',
    'index = taken.size;',
  ),
  {
    name: 'an interface counts as attached while it is being attached',
    edits: [
      {
        file: 'providers/alibaba/interface-waits.ts',
        from: "if (item?.status === 'InUse' && holderOf(item) === instanceId)",
        to: 'if (item !== undefined && holderOf(item) === instanceId)',
      },
      {
        file: 'providers/alibaba/network-interface.ts',
        from: "['Attaching', 'attaching'],",
        to: "['Attaching', 'attached'],",
      },
    ],
    seeds,
  },
  onAlibaba(
    'a window is taken for a bucket',
    'providers/alibaba/limits.ts',
    "return { kind: 'window', max, ms: 61_000 };",
    "return { kind: 'bucket', capacity: max, refill: max / 60 };",
  ),
  onAlibaba(
    'the primary interface carries pods',
    'providers/alibaba/cilium-node-section.ts',
    'firstInterfaceIndex: 1,',
    'firstInterfaceIndex: 0,',
  ),
];
