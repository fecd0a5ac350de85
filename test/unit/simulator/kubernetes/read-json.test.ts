import { expect, test } from '@jest/globals';
import { readJson } from '../../../../src/simulator/kubernetes/read-json.ts';

test.each([
  ['', 'unexpected end of JSON input'],
  ['{"a":1', 'unexpected end of JSON input'],
  ['{"a', 'unexpected end of JSON input'],
  ['"x', 'unexpected end of JSON input'],
  ['garbage', "invalid character 'g' looking for beginning of value"],
  ['{"a":1,}', "invalid character '}' looking for beginning of object key string"],
  ['{a:1}', "invalid character 'a' looking for beginning of object key string"],
  ['{"a" 1}', "invalid character '1' after object key"],
  ['{"a":1 "b":2}', `invalid character '"' after object key:value pair`],
  ['[1 2]', "invalid character '2' after array element"],
  ['{"a":1}x', "invalid character 'x' after top-level value"],
])('a body that is no JSON is refused in the words of Go: %j', (text, message) => {
  expect(readJson(text)).toEqual({ problem: message.replace(`'"'`, `'\\''`) });
});

test('a body that is JSON is read', () => {
  expect(readJson('{"a":[1,null]}')).toEqual({ value: { a: [1, null] } });
});
