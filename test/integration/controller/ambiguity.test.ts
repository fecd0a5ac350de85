// Answers to every call that changes the cloud get lost: it happened, it never happens, or it happens long after it was
// given up. Each is found out, and nothing is lost, doubled or left over.
import { describe, expect, test } from '@jest/globals';
import type { Fault } from '../../../src/simulator/cloud/faults.ts';
import { changingCalls, expectWell, growAndShrink } from '../../support/growing-and-shrinking.ts';

const ways: readonly (readonly [string, Fault])[] = [
  ['happened', { kind: 'lost', effect: 'before', connection: 'drop', delayMs: 0 }],
  ['happened, and nobody hangs up', { kind: 'lost', effect: 'before', connection: 'hang', delayMs: 0 }],
  ['never happens', { kind: 'lost', effect: 'after', connection: 'hang', delayMs: 0 }],
  ['happens while it is waited for', { kind: 'lost', effect: 'late', connection: 'hang', delayMs: 4000 }],
  ['happens after it was given up', { kind: 'lost', effect: 'late', connection: 'hang', delayMs: 25_000 }],
  ['leaves an answer that cannot be read', { kind: 'garbled', form: 'truncated' }],
];

const actions = changingCalls.filter((name) => !name.startsWith('patch'));

describe.each(['crd-allocator', 'multi-pool'] as const)('beside an agent of %s', (protocol) => {
  describe.each(actions)('a %s', (action) => {
    test.each(ways)('that %s', async (_, fault) => {
      let isMet = (): boolean => false;

      const world = await growAndShrink(protocol, {
        prepare: (given) => {
          given.fault(action, fault, 2);
          isMet = () =>
            given.cluster.ec2.gateway.faults.rules.some((rule) => rule.action === action && rule.met > 0);
        },
      });

      expect(isMet()).toBe(true);
      expectWell(world);
    });
  });
});
