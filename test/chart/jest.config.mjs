// The tests of the chart: helm and a real API server.
import plain from '../../jest.config.mjs';

export default {
  ...plain,
  rootDir: '../..',
  testMatch: ['<rootDir>/test/chart/**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
  maxWorkers: 2,
};
