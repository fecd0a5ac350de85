// What controllers of this test file wanted to do and the shipped policy does not allow. Each test ends with a look at it,
// so that none can miss that the policy lacks something (see the configuration of jest).
import { afterEach, expect } from '@jest/globals';

const missed: string[] = [];

export function miss(permission: string): void {
  missed.push(permission);
}

afterEach(() => {
  expect({ missedInPolicy: missed.splice(0) }).toEqual({ missedInPolicy: [] });
});
