import { describe, expect, test } from '@jest/globals';
import type { Json } from '../../../src/kubernetes/json.ts';
import { sameOnTheWire, wireForm } from '../../../src/kubernetes/wire-form.ts';

describe('sameOnTheWire', () => {
  test.each<[string, Json | undefined, Json | undefined, boolean]>([
    ['zero and absent', { number: 0, id: 'eni-1' }, { id: 'eni-1' }, true],
    ['the empty text and absent', { description: '' }, {}, true],
    [
      'the empty list, the empty map and null',
      { addresses: [], tags: {} },
      { addresses: null, tags: null },
      true,
    ],
    ['nothing and an object of nothing', undefined, { subnet: { id: '', cidr: '' } }, true],
    ['another number', { number: 1 }, { number: 2 }, false],
    ['a tag with the empty value and no tag', { tags: { a: '' } }, {}, false],
    ['a pool entry of nothing and no entry', { pool: { '10.0.0.1': {} } }, { pool: {} }, false],
    [
      'a pool entry with empty fields and one without',
      { pool: { '10.0.0.1': { owner: '' } } },
      { pool: { '10.0.0.1': {} } },
      true,
    ],
    ['lists in another order', { addresses: ['1', '2'] }, { addresses: ['2', '1'] }, false],
    ['lists of objects with empty fields', { cidrs: [{ a: 0 }] }, { cidrs: [{}] }, true],
    ['lists of another length', { cidrs: [{}] }, { cidrs: [{}, {}] }, false],
    ['a field of a name that maps have', { pool: 'default' }, { pool: 'other' }, false],
  ])('%s', (_what, a, b, same) => {
    expect(sameOnTheWire(a, b)).toBe(same);
    expect(sameOnTheWire(b, a)).toBe(same);
  });
});

describe('wireForm', () => {
  test('keeps what counts and nothing else', () => {
    const form = wireForm({
      enis: {
        'eni-1': {
          id: 'eni-1',
          number: 0,
          mac: '',
          addresses: ['10.0.0.1'],
          tags: { a: '', b: null },
          vpc: {},
        },
      },
      empty: {},
    });

    expect(form).toEqual({ enis: { 'eni-1': { id: 'eni-1', addresses: ['10.0.0.1'], tags: { a: '' } } } });
  });
});
