// Reads the options of the controller from the output of `helm template`.
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { argumentsOf, configOf, objectsIn } from '../rig/manifests.ts';

/** The flags of the Deployment in a file. Its ConfigMap is written to a new directory, which --config-dir then names. */
export async function flagsOfManifest(file: string): Promise<readonly string[]> {
  const objects = objectsIn(await readFile(file, 'utf8'));
  const [command, ...flags] = argumentsOf(objects);
  if (command !== 'run') throw new Error(`the Deployment in ${file} does not run the controller: ${command}`);
  const directory = await mkdtemp(join(tmpdir(), 'headwater-config-'));
  for (const [name, text] of Object.entries(configOf(objects))) await writeFile(join(directory, name), text);
  return [...flags.filter((flag) => !flag.startsWith('--config-dir=')), `--config-dir=${directory}`];
}
