// The cloud that a seed runs on, by its name.

export type SeedCloud = 'alibaba' | 'aws' | 'azure';

/** Such as `azure:7`, or `alibaba:` before the name of a commit. */
const prefix = /^(azure|alibaba):/;

/** AWS for a name without a cloud. */
export function cloudOfSeed(seed: string): SeedCloud {
  return (prefix.exec(seed)?.[1] ?? 'aws') as SeedCloud;
}
