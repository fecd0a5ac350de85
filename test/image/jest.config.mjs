// The image as a root file system, and releases of it: npm run test:image. One after the other: each needs all of the machine.
import plain from '../../jest.config.mjs';

export default {
  ...plain,
  rootDir: '../..',
  testMatch: ['<rootDir>/test/image/**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
  maxWorkers: 1,
};
