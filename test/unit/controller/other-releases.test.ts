import { describe, expect, test } from '@jest/globals';
import { OtherReleases, otherReleases, selectorAnnotation } from '../../../src/controller/other-releases.ts';
import { MutationPermission, noPauses } from '../../../src/providers/gate/mutation-permission.ts';
import { optionsOf } from '../../support/given-options.ts';
import { recordingLogger } from '../../support/recording-logger.ts';
import type { JsonObject } from '../../../src/kubernetes/transport/json.ts';

const annotation = selectorAnnotation('CiliumNodes');

function lease(name: string, at: string, selector?: string): JsonObject {
  const annotations = selector === undefined ? {} : { [annotation]: selector };
  return { metadata: { name, creationTimestamp: `2026-01-01T00:00:${at}Z`, annotations } };
}

describe('the other releases of a cluster', () => {
  const own = lease('own', '10', 'tier=pods');
  const of = (...others: JsonObject[]): unknown =>
    otherReleases([...others, own], 'own', annotation).map(({ lease: name, selector, isOlder }) => [
      name,
      selector?.text,
      isOlder,
    ]);

  test.each([
    ['an older Lease', lease('a', '09', 'x=1'), ['a', 'x=1', true]],
    ['a younger one', lease('a', '11', 'x=1'), ['a', 'x=1', false]],
    ['one of the same second, by its name', lease('a', '10', 'x=1'), ['a', 'x=1', true]],
    ['one of the same second, with a later name', lease('z', '10', 'x=1'), ['z', 'x=1', false]],
    ['one that chooses every node', lease('a', '09', ''), ['a', undefined, true]],
    [
      'one that cannot be read as one that chooses every node',
      lease('a', '09', '((('),
      ['a', undefined, true],
    ],
  ])('are found by %s', (_, other, found) => {
    expect(of(other)).toEqual([found]);
  });

  test('are no Leases of other programs, and not our own', () => {
    expect(of(lease('kube-scheduler', '01'), { metadata: {} }, {})).toEqual([]);
  });

  test('are all older while our own Lease is not in the list', () => {
    expect(otherReleases([lease('z', '59', 'x=1')], 'own', annotation)).toMatchObject([{ isOlder: true }]);
  });
});

test('our nodes are announced while no dry run is on, from the moment it ends', () => {
  const permission = new MutationPermission({ ...noPauses, dryRun: true });
  const annotated: (string | undefined)[] = [];
  const lease = { annotate: (_: string, text: string | undefined) => annotated.push(text) };
  const releases = new OtherReleases({
    host: { options: optionsOf({ 'node-selector': 'tier=pods' }), log: recordingLogger() },
    leadership: { permission, lease },
    served: 'CiliumNodes',
  } as never);

  // Not before it leads: the Lease still says which nodes the former leader chose.
  permission.change({ pause: ['mutations'] });
  releases.announce();
  permission.change({ dryRun: false });
  permission.change({ dryRun: true });

  expect(annotated).toEqual([undefined, 'tier=pods', undefined]);
});
