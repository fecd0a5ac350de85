// Prints values in error texts as the API server, written in Go, does.
import { isJsonArray, isJsonObject, type JsonValue } from './json-value.ts';

/** A string in double quotes, as `%q` prints it. */
export function quoted(text: string): string {
  return JSON.stringify(text);
}

/** A value as field errors print it: bare numbers and booleans, quoted strings, anything else in Go syntax. */
export function printed(value: JsonValue | undefined): string {
  if (value === null || value === undefined) return 'null';
  if (typeof value === 'string') return quoted(value);
  return typeof value === 'object' ? goSyntax(value) : String(value);
}

/** A value as `%#v` prints decoded JSON. */
function goSyntax(value: JsonValue): string {
  if (value === null) return 'interface {}(nil)';
  if (typeof value === 'string') return quoted(value);
  if (isJsonArray(value)) return `[]interface {}{${value.map(goSyntax).join(', ')}}`;
  if (isJsonObject(value)) {
    const entries = Object.keys(value).toSorted();
    return `map[string]interface {}{${entries.map((key) => `${quoted(key)}:${goSyntax(value[key] ?? null)}`).join(', ')}}`;
  }
  return String(value);
}

/** A list of strings as `%#v` prints it. */
export function goTexts(texts: readonly string[]): string {
  return `[]string{${texts.map(quoted).join(', ')}}`;
}
