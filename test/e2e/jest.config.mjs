// The tests on a real API server. They share a machine with it: one after the other.
import plain from '../../jest.config.mjs';

export default {
  ...plain,
  rootDir: '../..',
  testMatch: ['<rootDir>/test/e2e/**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
  maxWorkers: 1,
};
