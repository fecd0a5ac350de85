// The tests on a real API server. They share a machine with it: one after the other.
import plain from '../../jest.config.mjs';

export default {
  ...plain,
  rootDir: '../..',
  testMatch: ['<rootDir>/test/e2e/**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
  maxWorkers: 1,
  // A deadline that nobody waits for any more would hold the run up for minutes.
  forceExit: true,
};
