// The losses of a whole model when a client writes it back: fields that were there and are not, or are different. Azure
// takes them away without a word; a judge of clients looks here.
import { isObject, type Json, type JsonObject, textAt } from '../workload/json.ts';

/** Lists that are changed on purpose: only what stays in them is compared. */
const changeable = new Set(['ipConfigurations']);

/** Paths of fields of `before` that `after` lacks or has with another value. */
export function lossesOf(before: JsonObject, after: JsonObject): readonly string[] {
  return [...differences(before, after, '')];
}

function* differences(before: Json | undefined, after: Json | undefined, path: string): Generator<string> {
  if (before === undefined) return;
  if (Array.isArray(before)) {
    yield* ofList(before as readonly Json[], after, path);
    return;
  }
  if (!isObject(before)) {
    if (!isSame(before, after)) yield path;
    return;
  }
  // A client may take back its own wish that was never fulfilled.
  if (after === undefined && textAt(before, 'name') === 'cilium-managed-public-ip') return;
  if (!isObject(after)) {
    yield path;
    return;
  }
  for (const [name, value] of Object.entries(before)) {
    yield* differences(value, after[name], path === '' ? name : `${path}.${name}`);
  }
}

/** Case does not count in the names of resources. */
function isSame(before: Json, after: Json | undefined): boolean {
  if (typeof before !== 'string' || typeof after !== 'string') return before === after;
  return before.startsWith('/') ? before.toLowerCase() === after.toLowerCase() : before === after;
}

/** Items of a list are the same if they have one name, or one place. */
function* ofList(before: readonly Json[], after: Json | undefined, path: string): Generator<string> {
  if (!Array.isArray(after)) {
    yield path;
    return;
  }
  const items = after as readonly Json[];
  const mayShrink = changeable.has(path.slice(path.lastIndexOf('.') + 1));
  for (const [index, item] of before.entries()) {
    const name = textAt(item, 'name');
    const other = name === '' ? items[index] : items.find((each) => textAt(each, 'name') === name);
    if (other === undefined && mayShrink) continue;
    yield* differences(item, other, `${path}[${name || index}]`);
  }
}
