// Calls of the controllers in a test file that the shipped policy denies. Each test ends with a check that there are
// none (see the configuration of jest).
import { afterEach, expect } from '@jest/globals';
import type { Permission } from '../../src/simulator/ec2/iam-policy.ts';

const missed: string[] = [];

/** Records a permission that was checked. */
export function missDenied({ action, resource }: Permission, isAllowed: boolean): void {
  if (!isAllowed) missed.push(`${action} on ${resource}`);
}

afterEach(() => {
  expect({ missedInPolicy: missed.splice(0) }).toEqual({ missedInPolicy: [] });
});
