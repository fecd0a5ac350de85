/**
 * For processes that stand for other machines: room enough that they hardly collect garbage, for which they would take the cores
 * that the controller runs on.
 */
export const ofAnotherMachine = { NODE_OPTIONS: '--max-semi-space-size=64' };
