import { describe, expect, test } from '@jest/globals';
import { collectionOf } from '../../../../src/config/clouds/cloud-descriptor.ts';

const given = { clusterName: 'blue', eniGcTags: {}, eniGcInterval: 300_000, eniGcDryRun: false };

describe('the collection of orphaned interfaces', () => {
  test.each([
    ['is done for a cluster with a name', {}, 'on'],
    ['is refused for one without', { clusterName: 'default' }, 'refused'],
    ['is done for one without that has tags', { clusterName: 'default', eniGcTags: { c: 'blue' } }, 'on'],
    ['is off without an interval', { eniGcInterval: 0 }, 'off'],
    ['is off rather than refused', { eniGcInterval: 0, clusterName: 'default' }, 'off'],
  ])('is decided: it %s', (_, change, kind) => {
    expect(collectionOf({ ...given, ...change }).kind).toBe(kind);
  });

  test('follows the options', () => {
    expect(collectionOf({ ...given, eniGcDryRun: true })).toEqual({
      kind: 'on',
      interval: 300_000,
      dryRun: true,
    });
  });
});
