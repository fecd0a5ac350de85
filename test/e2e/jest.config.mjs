// The tests on a real API server. Each file brings a cluster of its own and mostly waits: three at a time.
import plain from '../../jest.config.mjs';

export default {
  ...plain,
  rootDir: '../..',
  testMatch: ['<rootDir>/test/e2e/**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
  maxWorkers: 3,
};
