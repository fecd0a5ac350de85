// Deliberate mistakes in what only Alibaba Cloud has. Seeds on Alibaba Cloud must detect them.
import type { Mutant } from './mutant.ts';

const onAlibaba = (name: string, file: string, from: string, to: string): Mutant => ({
  name,
  edits: [{ file, from, to }],
  seeds: 'alibaba:1..100',
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
    'node/allocate/prepare-ip-allocation.ts',
    'while (taken.has(index)) index++;',
    'index = taken.size;',
  ),
  onAlibaba(
    'an interface is attached once the call is accepted',
    'providers/alibaba/perform.ts',
    'await call.waits.attached(operation, call.context)',
    "(await Promise.resolve('attached'))",
  ),
  onAlibaba(
    'a window is taken for a bucket',
    'providers/alibaba/limits.ts',
    "return { kind: 'window', most, ms: 61_000 };",
    "return { kind: 'bucket', capacity: most, refill: most / 60 };",
  ),
  onAlibaba(
    'the primary interface carries pods',
    'providers/alibaba/cilium-node-section.ts',
    'firstInterfaceIndex: 1,',
    'firstInterfaceIndex: 0,',
  ),
];
