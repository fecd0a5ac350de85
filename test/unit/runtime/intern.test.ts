import { execFileSync } from 'node:child_process';
import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { intern } from '../../../src/runtime/intern.ts';

test('an interned copy equals its text', () => {
  fc.assert(fc.property(fc.string(), (text) => expect(intern(text)).toBe(text)));
  for (const text of ['', '7', '__proto__', 'constructor', '10.0.0.1']) expect(intern(text)).toBe(text);
});

test('many equal texts take the memory of one, and none once nothing refers to them', () => {
  const measure = `
    const { intern } = await import(${JSON.stringify(new URL('../../../src/runtime/intern.ts', import.meta.url).href)});
    const heap = () => { gc(); return process.memoryUsage().heapUsed; };
    const texts = (make) => Array.from({ length: 100_000 }, (_, index) => make('an address ' + (index % 1000)));
    const before = heap();
    let held = texts((text) => Buffer.from(text).toString('latin1'));
    const apart = heap() - before;
    held = texts((text) => intern(Buffer.from(text).toString('latin1')));
    const together = heap() - before;
    held = undefined;
    console.log(JSON.stringify({ apart, together, after: heap() - before }));
  `;
  const flags = ['--expose-gc', '--no-warnings', '--input-type=module', '--eval', measure];

  const found = JSON.parse(execFileSync(process.execPath, flags, { encoding: 'utf8' })) as Record<
    string,
    number
  >;

  // The array itself takes 8 bytes per text.
  expect(found['apart']).toBeGreaterThan(3_000_000);
  expect(found['together']).toBeLessThan(1_500_000);
  expect(found['after']).toBeLessThan(500_000);
});
