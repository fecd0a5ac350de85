// Answers to every call that changes the cloud get lost: the call took effect, never does, or does so long after its
// time-out. The controller finds each outcome, and nothing is lost, doubled or leaked.
import { describe, expect, test } from '@jest/globals';
import type { Fault } from '../../../src/simulator/cloud/faults.ts';
import { changingCalls, expectWell, growAndShrink } from '../../support/growing-and-shrinking.ts';

const ways: readonly (readonly [string, Fault])[] = [
  ['took effect', { kind: 'lost', effect: 'before', connection: 'drop', delayMs: 0 }],
  [
    'took effect, and the connection hangs',
    { kind: 'lost', effect: 'before', connection: 'hang', delayMs: 0 },
  ],
  ['never takes effect', { kind: 'lost', effect: 'after', connection: 'hang', delayMs: 0 }],
  [
    'takes effect while the controller waits',
    { kind: 'lost', effect: 'late', connection: 'hang', delayMs: 4000 },
  ],
  ['takes effect after its time-out', { kind: 'lost', effect: 'late', connection: 'hang', delayMs: 25_000 }],
  ['has an answer that cannot be read', { kind: 'garbled', form: 'truncated' }],
];

const actions = changingCalls.filter((name) => !name.startsWith('patch'));

describe.each(['crd-allocator', 'multi-pool'] as const)(
  'a node with an agent of %s whose cloud loses answers',
  (protocol) => {
    describe.each(actions)('after a lost answer to %s', (action) => {
      test.each(ways)('keeps every address and leaks nothing when the call %s', async (_, fault) => {
        let isMet = (): boolean => false;

        const life = await growAndShrink(protocol, {
          prepare: (given) => {
            given.fault(action, fault, 2);
            isMet = () =>
              given.cluster.ec2.gateway.faults.rules.some((rule) => rule.action === action && rule.met > 0);
          },
        });

        expect(isMet()).toBe(true);
        expectWell(life);
      });
    });
  },
);
