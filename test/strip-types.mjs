// Jest transformer. No `sourceUrl` is passed: with it, v8 coverage reads 0 %.
import { stripTypeScriptTypes } from 'node:module';

// Jest's message that a worker does not exit is about its handles. Without any, a worker would still free a heap of hundreds of MB
// in order, and Jest waits half a second: too short on a busy machine.
if (process.send !== undefined) process.once('beforeExit', () => process.exit());

export default {
  process: (source) => ({ code: stripTypeScriptTypes(source) }),
};
