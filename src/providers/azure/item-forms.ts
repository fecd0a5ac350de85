// Says which items of an answer are not in Azure's form. What such an item hides is not missing: an address, or an interface.
import { text } from './arm-api.ts';
import { isAbsent, isObject, type Json } from '../../runtime/json.ts';
import { instanceWithin, parseInterfaceId } from './ids.ts';

/**
 * Why nobody can tell whose interface an item of a list is, if it is one; undefined if it names its VM, or that it has none.
 * `owner`: the VM whose list it is.
 */
export function unclearIn(shown: Json, owner?: string): string | undefined {
  if (!isObject(shown)) return 'it is no object';
  const id = text(shown, 'id') ?? '';
  if (parseInterfaceId(id) === undefined) return `its id is ${JSON.stringify(shown['id'] ?? '')}`;
  return (owner ?? instanceWithin(id)) === undefined ? unclearHolder(shown['properties']) : undefined;
}

function unclearHolder(properties: Json | undefined): string | undefined {
  if (!isObject(properties)) return 'its properties are no object';
  const holder = properties['virtualMachine'];
  if (isAbsent(holder) || text(holder, 'id') !== undefined) return undefined;
  return `its VM is ${JSON.stringify(holder)}`;
}

/** The fault in the form of the first configuration that has one. */
export function oddityAmong(configurations: readonly Json[]): string | undefined {
  const odd = configurations.find((item) => !isConfiguration(item));
  if (odd === undefined) return undefined;
  return isObject(odd)
    ? `the configuration ${JSON.stringify(odd['name'] ?? '')} is in another form`
    : 'a configuration is no object';
}

function isConfiguration(item: Json): boolean {
  const properties = isObject(item) ? item['properties'] : undefined;
  if (text(item, 'name') === undefined || !isObject(properties)) return false;
  const { privateIPAddress: address, primary } = properties;
  return [
    isAbsent(address) || typeof address === 'string',
    isAbsent(primary) || typeof primary === 'boolean',
  ].every(Boolean);
}
