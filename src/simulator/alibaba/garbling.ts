// Garbles answers: some stay well-formed.
import type { Garbling } from '../cloud/faults.ts';
import { mapMembers } from '../cloud/mapped-json.ts';
import type { JsonObject } from '../workload/json.ts';
import type { RpcExchange } from './rpc-call.ts';

/** The answer that arrives instead. */
export function garble(form: Garbling, output: JsonObject): RpcExchange {
  switch (form) {
    case 'idsMissing':
      return { kind: 'answered', output: withoutIds(output) };
    case 'unknownEnum':
      return { kind: 'answered', output: withUnknownStates(output) };
    default:
      return { kind: 'garbled', form, output };
  }
}

/** The answer without any id. */
function withoutIds(answer: JsonObject): JsonObject {
  return mapMembers(answer, (name, value) => (name.endsWith('Id') ? undefined : value));
}

/** The answer with unknown states. */
function withUnknownStates(answer: JsonObject): JsonObject {
  return mapMembers(answer, (name, value) =>
    /^(Status|Type)$/.test(name) && typeof value === 'string' ? 'Quantum' : value,
  );
}
