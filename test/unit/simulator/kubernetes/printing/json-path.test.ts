import { expect, test } from '@jest/globals';
import { compileJsonPath } from '../../../../../src/simulator/kubernetes/printing/json-path.ts';

const object = {
  spec: {
    addresses: [
      { type: 'InternalIP', ip: '10.0.0.1' },
      { type: 'CiliumInternalIP', ip: '10.9.0.1' },
      { type: 'InternalIP', ip: 'fd00::1' },
    ],
    ready: [
      { ok: true, n: 1 },
      { ok: false, n: 2 },
    ],
    map: { 'a.b': 1, c: 2 },
  },
};

test.each([
  ['.spec.addresses[?(@.type=="InternalIP")].ip', ['10.0.0.1', 'fd00::1']],
  [`.spec.addresses[?(@.type=='CiliumInternalIP')].ip`, ['10.9.0.1']],
  ['.spec.addresses[0].ip', ['10.0.0.1']],
  ['.spec.addresses[-1].ip', ['fd00::1']],
  ['.spec.addresses[*].ip', ['10.0.0.1', '10.9.0.1', 'fd00::1']],
  ['.spec.map.*', [1, 2]],
  [String.raw`.spec.map.a\.b`, [1]],
  [`.spec.map['a.b']`, [1]],
  ['.spec.ready[?(@.ok==true)].n', [1]],
  ['.spec.ready[?(@.n==2)].ok', [false]],
  ['.none.deeper', []],
  ['.spec.addresses[9]', []],
])('a JSON path finds its values: %s', (path, values) => {
  expect(compileJsonPath(path)(object)).toEqual(values);
});

test('a path that cannot be followed is refused when it is parsed', () => {
  expect(() => compileJsonPath('.a[?(@.b>1)]')).toThrow(
    'cannot follow "[?(@.b>1)]" in the JSON path ".a[?(@.b>1)]"',
  );
  expect(() => compileJsonPath('a')).toThrow(SyntaxError);
});
