// Azure gives ids back in another case from one call to the next: group names in capitals, types in lower case.
import { isObject, type Json, type JsonObject } from '../workload/json.ts';

/** The body with every resource id as `spell` writes it. */
export function respell(body: JsonObject, spell: (id: string) => string): JsonObject {
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => [
      name,
      value === undefined ? value : respellValue(value, spell),
    ]),
  );
}

function respellValue(value: Json, spell: (id: string) => string): Json {
  if (typeof value === 'string') return value.startsWith('/subscriptions/') ? spell(value) : value;
  if (Array.isArray(value)) return (value as readonly Json[]).map((item) => respellValue(item, spell));
  return isObject(value) ? respell(value, spell) : value;
}

/** The same id as another service of Azure spells it. */
export function otherCase(id: string): string {
  return id
    .split('/')
    .map((part, index, parts) => {
      if (index === 3) return part.toLowerCase();
      if (index === 4) return part === part.toUpperCase() ? part.toLowerCase() : part.toUpperCase();
      return parts[index - 1]?.toLowerCase() === 'microsoft.compute' ? part.toLowerCase() : part;
    })
    .join('/');
}
