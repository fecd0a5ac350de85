import { expect, test } from '@jest/globals';
import type { KubernetesObject } from '../../../../../src/simulator/kubernetes/objects/kubernetes-object.ts';
import { customColumns } from '../../../../../src/simulator/kubernetes/printing/custom-columns.ts';

const object: KubernetesObject = {
  apiVersion: 'v1',
  kind: 'Thing',
  metadata: { name: 'x', creationTimestamp: '2026-01-01T00:00:00Z' },
  spec: { text: 'a', number: 1.5, flag: true, list: [1] },
};
const now = Date.UTC(2026, 0, 1, 0, 5);

test.each([
  ['string', '.spec.text', 'a'],
  ['string', '.spec.number', '1.5'],
  ['string', '.spec.list', '[1]'],
  ['string', '.spec.none', null],
  ['integer', '.spec.number', 1],
  ['integer', '.spec.text', null],
  ['number', '.spec.number', 1.5],
  ['boolean', '.spec.flag', true],
  ['boolean', '.spec.text', null],
  ['date', '.metadata.creationTimestamp', '5m'],
  ['date', '.spec.number', null],
])('a column of type %s at %s shows the value in that type', (type, jsonPath, cell) => {
  const [, column] = customColumns([{ name: 'C', type, jsonPath }]);

  expect(column?.cell(object, now)).toBe(cell);
});

test('a definition without columns shows name and age', () => {
  expect(customColumns().map(({ name, cell }) => [name, cell(object, now)])).toEqual([
    ['Name', 'x'],
    ['Age', '5m'],
  ]);
});
