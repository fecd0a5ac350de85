import { describe, expect, test } from '@jest/globals';
import type { KubernetesObject } from '../../../../../src/simulator/kubernetes/objects/kubernetes-object.ts';
import type { Change } from '../../../../../src/simulator/kubernetes/storage/change.ts';
import type { Collection } from '../../../../../src/simulator/kubernetes/storage/collection.ts';
import { ObjectStore } from '../../../../../src/simulator/kubernetes/storage/object-store.ts';

function object(name: string, value = 0): KubernetesObject {
  return { apiVersion: 'v1', kind: 'Thing', metadata: { name }, value };
}

function names(objects: Iterable<{ readonly object: KubernetesObject }> | undefined): readonly unknown[] {
  return [...(objects ?? [])].map(({ object: { metadata } }) => metadata.name);
}

function filled(store: ObjectStore): Collection {
  const collection = store.collection('things');
  for (const name of ['b', 'a', 'c']) collection.put(name, object(name));
  return collection;
}

describe('Collection', () => {
  test('counts one version over all collections and freezes what it keeps', () => {
    const store = new ObjectStore(10);

    const first = store.collection('things').put('a', object('a'));
    const second = store.collection('others').put('a', object('a'));

    expect(first.metadata.resourceVersion).toBe('1');
    expect(second.metadata.resourceVersion).toBe('2');
    expect(store.revision).toBe(2);
    expect(Object.isFrozen(first.metadata)).toBe(true);
  });

  test('lists objects in the order of their keys', () => {
    const collection = filled(new ObjectStore(10));

    collection.remove('b');
    collection.put('aa', object('aa'));

    expect(names(collection.all())).toEqual(['a', 'aa', 'c']);
  });

  test('shows past states', () => {
    const collection = filled(new ObjectStore(10));
    collection.put('a', object('a', 1));
    collection.remove('c');
    collection.put('d', object('d'));

    expect(names(collection.allAt(3))).toEqual(['a', 'b', 'c']);
    expect(names(collection.allAt(1))).toEqual(['b']);
    expect([...(collection.allAt(3) ?? [])][0]?.object['value']).toBe(0);
    expect(names(collection.allAt(6))).toEqual(['a', 'b', 'd']);
  });

  test('notifies followers of one key about that key only', () => {
    const collection = filled(new ObjectStore(10));
    const heard: string[] = [];
    const note = (who: string) => (change: Change) => void heard.push(`${who} ${change.kind} ${change.key}`);
    collection.follow(undefined, note('all'));
    const stop = collection.follow('a', note('a'));

    collection.put('a', object('a', 1));
    collection.put('z', object('z'));
    collection.remove('a');
    stop();
    stop();
    collection.put('a', object('a'));

    expect(heard).toEqual([
      'all MODIFIED a',
      'a MODIFIED a',
      'all ADDED z',
      'all DELETED a',
      'a DELETED a',
      'all ADDED a',
    ]);
  });

  test('removes an object under a version of its own', () => {
    const collection = filled(new ObjectStore(10));

    const removed = collection.remove('b');

    expect(removed?.metadata.resourceVersion).toBe('4');
    expect(collection.get('b')).toBeUndefined();
    expect(collection.remove('b')).toBeUndefined();
  });

  test('drops history in all collections, also in those created later', () => {
    const store = new ObjectStore(10);
    const collection = filled(store);

    store.forgetHistory();

    expect(collection.changesAfter(2)).toBeUndefined();
    expect(store.collection('later').changesAfter(2)).toBeUndefined();
    expect(store.collection('later').changesAfter(3)).toEqual([]);
  });
});
