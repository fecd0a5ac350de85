// fast-check with one seed for all properties, so that a run fails for what changed and not for its draw. To play new
// values: HEADWATER_TEST_SEED=random, or a number that a failure named.
import { configureGlobal } from '../../node_modules/fast-check/lib/fast-check.js';

const given = process.env['HEADWATER_TEST_SEED'] ?? '1';
if (given !== 'random') configureGlobal({ seed: Number(given) });

export * from '../../node_modules/fast-check/lib/fast-check.js';
