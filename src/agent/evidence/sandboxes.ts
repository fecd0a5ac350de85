// The network namespaces that container runtimes made for pods, as this machine shows them. They live as long as their pods do,
// whatever the API says.
import { readdirSync } from 'node:fs';
import { basename, dirname } from 'node:path';

const directory = '/var/run/netns';

/** Runtimes name them by a UUID, perhaps after a word, such as `cni-`. */
const ofRuntime = /[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/;

/** Their names; none where they cannot be seen. */
export function livingSandboxes(): readonly string[] {
  try {
    return readdirSync(directory).filter((name) => ofRuntime.test(name));
  } catch {
    return [];
  }
}

/** The name of a network namespace in that directory; undefined for one elsewhere. */
export function sandboxOf(netns: string | undefined): string | undefined {
  const isThere = netns !== undefined && [directory, '/run/netns'].includes(dirname(netns));
  return isThere ? basename(netns) : undefined;
}
