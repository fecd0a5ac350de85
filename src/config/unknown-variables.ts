// Finds environment variables that look like Headwater options and are none, likely typos. Pure.
import { environmentNameOf, optionNames } from './option-table.ts';

/** Variables that bin/headwater itself reads. */
const ofTheProgram: readonly string[] = ['HEADWATER_NODE', 'HEADWATER_V8_FLAGS'];

/** Every variable that sets an option. */
export const optionVariables: readonly string[] = optionNames.map(environmentNameOf);

/** Non-empty variables with our prefix that belong to no option. */
export function unknownVariables(
  environment: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  const given = Object.keys(environment).filter((name) => (environment[name] ?? '').trim() !== '');
  const known = new Set([...optionVariables, ...ofTheProgram]);
  const services = given
    .filter((name) => name.endsWith('_SERVICE_HOST'))
    .map((name) => name.slice(0, -'_SERVICE_HOST'.length));
  return given.filter(
    (name) =>
      name.startsWith('HEADWATER_') &&
      !known.has(name) &&
      !services.some((service) => isOfService(name, service)),
  );
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
