import { describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../../../../../src/simulator/kubernetes/json-value.ts';
import { strategicMerge } from '../../../../../src/simulator/kubernetes/patching/strategic-merge.ts';

const conditions = (...types: readonly string[]): JsonObject => ({
  status: { conditions: types.map((type) => ({ type, status: 'True' })) },
});

describe('strategicMerge', () => {
  test('merges the items of a list by their key', () => {
    const patch = { status: { conditions: [{ type: 'B', status: 'False' }] } };

    expect(strategicMerge(conditions('A', 'B', 'C'), patch, 'Node')).toEqual({
      status: {
        conditions: [
          { type: 'A', status: 'True' },
          { type: 'B', status: 'False' },
          { type: 'C', status: 'True' },
        ],
      },
    });
  });

  test('puts new items before the others', () => {
    const merged = strategicMerge(
      conditions('A'),
      { status: { conditions: [{ type: 'N', status: 'True' }] } },
      'Node',
    );

    expect(merged).toEqual(conditions('N', 'A'));
  });

  test('removes items, or replaces the list', () => {
    const away = { status: { conditions: [{ type: 'A', $patch: 'delete' }] } };
    const instead = { status: { conditions: [{ type: 'N', status: 'True' }, { $patch: 'replace' }] } };

    expect(strategicMerge(conditions('A', 'B'), away, 'Node')).toEqual(conditions('B'));
    expect(strategicMerge(conditions('A', 'B'), instead, 'Node')).toEqual(conditions('N'));
  });

  test('merges lists inside items', () => {
    const pod = { spec: { containers: [{ name: 'c', image: 'x', env: [{ name: 'A', value: '1' }] }] } };
    const patch = { spec: { containers: [{ name: 'c', env: [{ name: 'B', value: '2' }] }] } };

    expect(strategicMerge(pod, patch, 'Pod')).toEqual({
      spec: {
        containers: [
          {
            name: 'c',
            image: 'x',
            env: [
              { name: 'B', value: '2' },
              { name: 'A', value: '1' },
            ],
          },
        ],
      },
    });
  });

  test('unites plain lists and removes values from them', () => {
    const object = { metadata: { finalizers: ['a', 'b'] } };
    const patch = { metadata: { finalizers: ['c', 'b'], '$deleteFromPrimitiveList/finalizers': ['a'] } };

    expect(strategicMerge(object, patch, 'Node')).toEqual({ metadata: { finalizers: ['b', 'c'] } });
  });

  test('replaces lists without a key, removes nulls, and obeys directives for maps', () => {
    const object = {
      spec: { taints: [{ key: 'a' }], unschedulable: true },
      metadata: { labels: { a: '1' } },
    };
    const patch = {
      spec: { taints: [{ key: 'b' }], unschedulable: null, '$setElementOrder/x': [] },
      metadata: { labels: { $patch: 'replace', b: '2' } },
    };

    expect(strategicMerge(object, patch, 'Node')).toEqual({
      spec: { taints: [{ key: 'b' }] },
      metadata: { labels: { b: '2' } },
    });
  });

  test('keeps only the keys that the patch retains', () => {
    const object = { spec: { volumes: [{ name: 'v', emptyDir: {} }] } };
    const patch = {
      spec: { volumes: [{ name: 'v', hostPath: { path: '/' }, $retainKeys: ['name', 'hostPath'] }] },
    };

    expect(strategicMerge(object, patch, 'Pod')).toEqual({
      spec: { volumes: [{ name: 'v', hostPath: { path: '/' } }] },
    });
  });
});
