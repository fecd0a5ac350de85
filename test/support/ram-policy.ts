// The RAM policy that Headwater ships.
import { readFileSync } from 'node:fs';

interface RamPolicy {
  readonly Statement: readonly { readonly Action: readonly string[] }[];
}

const file = new URL('../../docs/ram-policy.json', import.meta.url);
const policy = JSON.parse(readFileSync(file, 'utf8')) as RamPolicy;

/** The permissions in it, as `ecs:DescribeInstances`. */
export const ramPermissions: readonly string[] = policy.Statement.flatMap(({ Action }) => Action);
