import { describe, expect, test } from '@jest/globals';
import type { KubernetesObject } from '../../../../../src/simulator/kubernetes/objects/kubernetes-object.ts';
import type { Change } from '../../../../../src/simulator/kubernetes/storage/change.ts';
import { ChangeHistory } from '../../../../../src/simulator/kubernetes/storage/change-history.ts';

function object(name: string): KubernetesObject {
  return { apiVersion: 'v1', kind: 'Thing', metadata: { name } };
}

function change(revision: number, key: string, previous?: KubernetesObject): Change {
  return {
    kind: previous === undefined ? 'ADDED' : 'MODIFIED',
    key,
    revision,
    object: object(`${key}@${revision}`),
    previous,
  };
}

describe('ChangeHistory', () => {
  test('returns the changes after a revision', () => {
    const history = new ChangeHistory(10, 0);
    for (const revision of [2, 5, 9]) history.add(change(revision, 'a'));

    expect(history.after(0)?.map(({ revision }) => revision)).toEqual([2, 5, 9]);
    expect(history.after(5)?.map(({ revision }) => revision)).toEqual([9]);
    expect(history.after(7)?.map(({ revision }) => revision)).toEqual([9]);
    expect(history.after(9)).toEqual([]);
    expect(history.after(99)).toEqual([]);
  });

  test('drops the oldest changes, and reports that instead of leaving a gap', () => {
    const history = new ChangeHistory(3, 0);

    for (let revision = 1; revision <= 6; revision++) history.add(change(revision, 'a'));

    expect(history.floor).toBe(3);
    expect(history.after(2)).toBeUndefined();
    expect(history.after(3)?.map(({ revision }) => revision)).toEqual([4, 5, 6]);
    expect(history.undoneTo(2)).toBeUndefined();
  });

  test('drops changes on request', () => {
    const history = new ChangeHistory(10, 0);
    history.add(change(1, 'a'));
    history.add(change(2, 'a'));

    history.forgetUntil(5);
    history.forgetUntil(4);

    expect(history.floor).toBe(5);
    expect(history.after(4)).toBeUndefined();
    expect(history.after(5)).toEqual([]);
  });

  test('goes back to the oldest state after a revision', () => {
    const history = new ChangeHistory(10, 0);
    const first = object('a@1');
    history.add(change(2, 'a', first));
    history.add(change(3, 'a', object('a@2')));
    history.add(change(4, 'b'));

    const undone = history.undoneTo(1);

    expect(undone?.get('a')).toBe(first);
    expect(undone?.has('b')).toBe(true);
    expect(undone?.get('b')).toBeUndefined();
    expect(history.undoneTo(4)?.size).toBe(0);
  });
});
