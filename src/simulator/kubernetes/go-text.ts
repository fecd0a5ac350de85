// How the API server, written in Go, prints values inside its error texts.
import { isJsonArray, isJsonObject, type JsonValue } from './json-value.ts';

/** A text in double quotes, as `%q` prints it. */
export function quoted(text: string): string {
  return JSON.stringify(text);
}

/** A value as field errors show it: numbers and flags bare, texts quoted, anything else in Go syntax. */
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

/** A list of texts as `%#v` prints it. */
export function goTexts(texts: readonly string[]): string {
  return `[]string{${texts.map(quoted).join(', ')}}`;
}
