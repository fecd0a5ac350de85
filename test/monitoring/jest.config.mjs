// The tests that need Prometheus.
import plain from '../../jest.config.mjs';

export default {
  ...plain,
  rootDir: '../..',
  testMatch: ['<rootDir>/test/monitoring/**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
};
