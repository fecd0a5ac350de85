// What controllers of this test file wanted to do and the shipped policy does not allow. Each test ends with a look at it,
// so that none can miss that the policy lacks something (see the configuration of jest).
import { afterEach, expect } from '@jest/globals';
import type { Permission } from '../../src/simulator/ec2/iam-policy.ts';

const missed: string[] = [];

/** To be told of what a policy had to allow. */
export function missDenied({ action, resource }: Permission, isAllowed: boolean): void {
  if (!isAllowed) missed.push(`${action} on ${resource}`);
}

afterEach(() => {
  expect({ missedInPolicy: missed.splice(0) }).toEqual({ missedInPolicy: [] });
});
