// Finds environment variables that look like Headwater options and are none, likely typos. Pure.
import { nearest } from '../runtime/did-you-mean.ts';
import { environmentNameOf, optionNames } from './option-table.ts';

/** Variables that bin/headwater itself reads. */
const ofTheProgram: readonly string[] = ['HEADWATER_NODE', 'HEADWATER_V8_FLAGS'];

/** Every variable that sets an option. */
const optionVariables: readonly string[] = optionNames.map(environmentNameOf);

/** A variable, and the one of an option that was probably meant. */
export interface UnknownVariable {
  readonly variable: string;
  readonly meant?: string;
}

/** Non-empty variables with our prefix that belong to no option. */
export function unknownVariables(
  environment: Readonly<Record<string, string | undefined>>,
): readonly UnknownVariable[] {
  const given = Object.keys(environment).filter((name) => (environment[name] ?? '').trim() !== '');
  const known = new Set([...optionVariables, ...ofTheProgram]);
  const services = given
    .filter((name) => name.endsWith('_SERVICE_HOST'))
    .map((name) => name.slice(0, -'_SERVICE_HOST'.length));
  return given
    .filter((name) => name.startsWith('HEADWATER_') && !known.has(name))
    .filter((name) => !services.some((service) => isOfService(name, service)))
    .map((variable) => ({ variable, ...meantBy(variable) }));
}

/** Options of cilium-operator have its prefix; using ours is the most common mistake. */
function meantBy(variable: string): { readonly meant?: string } {
  const withOtherPrefix = variable.replace(/^HEADWATER_/, 'CILIUM_');
  const meant = optionVariables.includes(withOtherPrefix)
    ? withOtherPrefix
    : nearest(variable, optionVariables);
  return meant === undefined ? {} : { meant };
}

/**
 * Kubernetes sets these in every pod for each Service of its namespace:
 * https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables
 */
function isOfService(name: string, service: string): boolean {
  return ['SERVICE_HOST', 'SERVICE_PORT', 'PORT'].some(
    (part) =>
      name === `${service}_${part}` || (part !== 'SERVICE_HOST' && name.startsWith(`${service}_${part}_`)),
  );
}
