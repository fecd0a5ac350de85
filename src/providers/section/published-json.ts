// Reads JSON that anyone may have written into a CiliumNode.
import { isObject } from '../../runtime/json.ts';

export function isAbsent(value: unknown): value is undefined | null {
  return value === undefined || value === null;
}

/** Own members only. */
export function member(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
}

/** Empty if it is no text. */
export function text(value: unknown, name: string): string {
  const found = member(value, name);
  return typeof found === 'string' ? found : '';
}

/** The texts of a list. */
export function texts(value: unknown, name: string): readonly string[] {
  return items(value, name).filter((item) => typeof item === 'string');
}

/** The members of a map, each as a text. */
export function textsByName(value: unknown, name: string): Readonly<Record<string, string>> {
  const entries = Object.entries(member(value, name) ?? {});
  return Object.fromEntries(entries.map(([key, item]) => [key, String(item)]));
}

/** Empty if it is no list. */
export function items(value: unknown, name: string): readonly unknown[] {
  const found = member(value, name);
  return Array.isArray(found) ? found : [];
}
