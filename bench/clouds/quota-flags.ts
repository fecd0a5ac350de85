// The flags that give the controller the rate limits that a model keeps.
import type { Bucket } from '../floor.ts';

/** All of the limits is the controller's. These are the cloud's own by their names; the model keeps them times `scale`. */
export function quotaFlags(own: Readonly<Record<string, Bucket>>, scale: number): readonly string[] {
  if (scale === 1) return ['--cloud-quota-share=1'];
  const overrides = Object.entries(own).map(
    ([name, { capacity, refill }]) => `${name}=${capacity * scale}:${refill * scale}`,
  );
  return ['--cloud-quota-share=1', `--cloud-quota-overrides=${overrides.join(',')}`];
}
