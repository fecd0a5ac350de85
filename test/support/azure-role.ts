// The role that Headwater ships for Azure.
import { readFileSync } from 'node:fs';

const file = new URL('../../docs/azure-role.json', import.meta.url);
const role = JSON.parse(readFileSync(file, 'utf8')) as { readonly Actions: readonly string[] };

/** The permissions in it, as `Microsoft.Network/networkInterfaces/read`. */
export const azureRole: readonly string[] = role.Actions;
