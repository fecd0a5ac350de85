// Counts the entries of maps that code goes through: a cost that grows with what is remembered shows there, on any machine.
import { jest } from '@jest/globals';

const iterator = Object.getPrototypeOf(new Map().values()) as { next: () => unknown };

/** How many entries of maps `act` visits. */
export function mapVisits(act: () => void): number {
  const next = jest.spyOn(iterator, 'next');
  try {
    act();
    return next.mock.calls.length;
  } finally {
    next.mockRestore();
  }
}
