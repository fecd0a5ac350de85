// How a call of a controller ended.
import type { JsonObject } from '../../../src/simulator/workload/json.ts';

export interface EndedCall {
  readonly input: JsonObject;
  readonly result: string;
  readonly sentAt: number;
  /** Empty unless the call succeeded. */
  readonly output: JsonObject;
}
