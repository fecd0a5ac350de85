import { describe, expect, test } from '@jest/globals';
import { leftIn, leftText } from '../../../../src/blocks/cluster-pool/left-annotation.ts';
import { cidrText, network } from '../../../../src/blocks/set/cidr.ts';

const block = (name: string, third: bigint) => ({
  name,
  cidr: network('ipv4', 0x0a00_0000n + (third << 8n), 24),
});

describe('what deleted CiliumNodes left', () => {
  test('is read as it was written, whatever their names are', () => {
    const blocks = [block('a', 0n), block('a', 1n), block('constructor', 2n)];

    const text = leftText(blocks);

    expect(text).toBe('{"a":["10.0.0.0/24","10.0.1.0/24"],"constructor":["10.0.2.0/24"]}');
    expect(leftIn(text).map(({ name, cidr }) => [name, cidrText(cidr)])).toEqual([
      ['a', '10.0.0.0/24'],
      ['a', '10.0.1.0/24'],
      ['constructor', '10.0.2.0/24'],
    ]);
  });

  test('is not written where there is nothing, or too much', () => {
    expect(leftText([])).toBeUndefined();
    expect(leftText(Array.from({ length: 10_000 }, (_, index) => block('a', BigInt(index))))).toBeUndefined();
  });

  test.each([undefined, '', 'no JSON', '[]', 'null', '{"a":1}', '{"a":[1,"10.0.0.0"]}'])(
    'is nothing if the annotation is %p',
    (text) => {
      expect(leftIn(text)).toEqual([]);
    },
  );
});
