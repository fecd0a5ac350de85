// Garbles answers: some stay well-formed.
import type { Garbling } from '../cloud/faults.ts';
import { isObject, type Json, type JsonObject } from '../workload/json.ts';
import type { ArmAnswer, ArmExchange } from './arm-call.ts';

/** The answer that arrives instead. */
export function garble(form: Garbling, output: ArmAnswer): ArmExchange {
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
function withoutIds(answer: ArmAnswer): ArmAnswer {
  return mapped(answer, (name, value) => (name === 'id' || name === 'vmId' ? undefined : value));
}

/** The answer with unknown states. */
function withUnknownStates(answer: ArmAnswer): ArmAnswer {
  const states = /^(provisioningState|status|privateIPAllocationMethod|orchestrationMode)$/;
  return mapped(answer, (name, value) =>
    states.test(name) && typeof value === 'string' ? 'Quantum' : value,
  );
}

type Change = (name: string, value: Json | undefined) => Json | undefined;

function mapped(answer: ArmAnswer, change: Change): ArmAnswer {
  return answer.body === undefined ? answer : { ...answer, body: mapMembers(answer.body, change) };
}

function mapMembers(object: JsonObject, change: Change): JsonObject {
  return Object.fromEntries(
    Object.entries(object)
      .map(([name, value]) => [name, deepen(change(name, value), change)] as const)
      .filter(([, value]) => value !== undefined),
  );
}

function deepen(value: Json | undefined, change: Change): Json | undefined {
  if (Array.isArray(value)) return (value as readonly Json[]).map((item) => deepen(item, change) ?? null);
  return isObject(value) ? mapMembers(value, change) : value;
}
