// Parses JSON and reports malformed text with the words of Go's decoder.
import { quoted } from './go-text.ts';
import type { JsonValue } from './json-value.ts';

export type ReadJson = { readonly value: JsonValue } | { readonly problem: string };

const phrases: readonly (readonly [RegExp, string])[] = [
  [
    /^Expected property name|^Expected double-quoted property name/,
    'looking for beginning of object key string',
  ],
  [/^Expected ':'/, 'after object key'],
  [/^Expected ',' or '}'/, 'after object key:value pair'],
  [/^Expected ',' or ']'/, 'after array element'],
  [/^Unexpected non-whitespace character after JSON/, 'after top-level value'],
  [/^Bad control character in string literal/, 'in string literal'],
  [/^Bad escaped character/, 'in string escape code'],
];

export function readJson(text: string): ReadJson {
  try {
    return { value: JSON.parse(text) as JsonValue };
  } catch (error) {
    return { problem: translated(text, error instanceof Error ? error.message : String(error)) };
  }
}

function translated(text: string, message: string): string {
  const character = culprit(text, message);
  if (character === '') return 'unexpected end of JSON input';
  const phrase = phrases.find(([pattern]) => pattern.test(message))?.[1] ?? 'looking for beginning of value';
  return `invalid character ${quoted(character).replaceAll('"', "'")} ${phrase}`;
}

/** The unexpected character; empty if the text ends too early. */
function culprit(text: string, message: string): string {
  if (/^Unexpected end|^Unterminated string/.test(message)) return '';
  const token = /^Unexpected token '(.)'/su.exec(message)?.[1];
  const position = /at position (\d+)/.exec(message)?.[1];
  return token ?? text.charAt(Number(position ?? 0));
}
