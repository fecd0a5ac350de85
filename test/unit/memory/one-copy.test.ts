import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { oneCopy } from '../../../src/memory/one-copy.ts';

test('a copy says what the text said', () => {
  fc.assert(fc.property(fc.string(), (text) => expect(oneCopy(text)).toBe(text)));
  for (const text of ['', '7', '__proto__', 'constructor', '10.0.0.1']) expect(oneCopy(text)).toBe(text);
});
