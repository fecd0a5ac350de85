// What the definitions have in common that Headwater creates where Cilium's are absent. Their version is below any of Cilium's: a
// cilium-operator that starts later replaces them by its own.
import type { JsonObject } from '../transport/json.ts';

/** Cilium compares it before it replaces a definition. */
export const versionLabel = 'io.cilium.k8s.crd.schema.version';
export const managerLabel = 'app.kubernetes.io/managed-by';
export const manager = 'headwater';
export const definitionVersion = '0.0.2';

export const definitionLabels = { [versionLabel]: definitionVersion, [managerLabel]: manager };

export const text = { type: 'string' };

/** An object with these fields and any others. */
export function open(properties: JsonObject): JsonObject {
  return { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties };
}
