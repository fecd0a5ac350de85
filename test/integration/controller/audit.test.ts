// What a controller writes to the audit of its changes, compared with the calls that the cloud got from it.
import { describe, expect, test } from '@jest/globals';
import { changingCalls as callsOfAws, growAndShrink } from '../../support/growing-and-shrinking.ts';
import { changingCalls as callsOfAlibaba, growOnAlibaba } from '../../support/growing-on-alibaba.ts';
import {
  changingCalls as callsOfAzure,
  growOnAzure,
  type GrowingNode,
} from '../../support/growing-on-azure.ts';
import type { WorldController } from '../../support/world-controller.ts';

interface Lived {
  readonly calls: readonly string[];
  readonly reasons: readonly string[];
  readonly live: () => Promise<{ readonly controller: WorldController }>;
}

const uniform: GrowingNode = { protocol: 'crd-allocator', mode: 'Uniform' };
const flexible: GrowingNode = { protocol: 'multi-pool', mode: 'Flexible' };

const given = ['pods', 'release', 'watermark'];
const made = ['deleteOnTermination', 'idleInterface', ...given];

const lives: readonly (readonly [string, Lived])[] = [
  ['AWS', { calls: callsOfAws, reasons: made, live: () => growAndShrink('crd-allocator') }],
  [
    'Azure, in a uniform scale set,',
    { calls: callsOfAzure(uniform), reasons: given, live: () => growOnAzure(uniform) },
  ],
  [
    'Azure, in a flexible scale set,',
    { calls: callsOfAzure(flexible), reasons: given, live: () => growOnAzure(flexible) },
  ],
  ['Alibaba Cloud', { calls: callsOfAlibaba, reasons: given, live: () => growOnAlibaba() }],
];

describe.each(lives)('the life of a node on %s', (_, { calls, reasons, live }) => {
  test('leaves one line for each change, and an end for each that the cloud accepted', async () => {
    const { controller } = await live();

    const changes = controller.audited.filter(({ audit }) => audit === 'change');
    const sent = controller.calls.filter(({ action }) => calls.includes(action));
    expect(changes.map(({ action }) => action).sort()).toEqual(sent.map(({ action }) => action).sort());
    expect(changes.map(({ change }) => change)).toEqual(sent.map((_call, index) => index + 1));
    const ends = controller.audited.filter(({ audit }) => audit === 'end');
    const accepted = changes.filter(({ result }) => result === 'accepted');
    expect(new Set(ends.map(({ change }) => change))).toEqual(new Set(accepted.map(({ change }) => change)));
    expect(ends).toHaveLength(accepted.length);
    expect(new Set(ends.map(({ result }) => result))).toEqual(new Set(accepted.length > 0 ? ['ok'] : []));
    expect(
      new Set(controller.audited.map(({ node, instance }) => [node, instance].includes(undefined))),
    ).toEqual(new Set([false]));
    expect([...new Set(changes.map(({ why }) => why))].sort()).toEqual(reasons);
    expect(JSON.stringify(controller.audited)).not.toMatch(/token"|secret|password|authorization/i);
  });
});
