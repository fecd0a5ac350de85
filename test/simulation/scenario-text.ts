// Describes a scenario for a person who investigates a failure.
import type { Scenario } from './scenario.ts';

export function scenarioText(scenario: Scenario): string {
  const { nodes, zones, flags, replicas, workloads, faults, minutes, cloud } = scenario;
  const { why, minMinutes = 0, minMutations = 0, ipv6, hasPodVpc = false } = scenario;
  const length = `${minutes} min${minMinutes > minutes ? ` of faults, ${minMinutes} in all` : ''}`;
  return [
    ...(why === undefined ? [] : [`regression: ${why}`]),
    `${length}, ${replicas} controller(s), ${zones.length} zone(s), cloud ${JSON.stringify(cloud)}`,
    `  options ${Object.entries(flags)
      .map(([name, value]) => `--${name}=${value}`)
      .join(' ')}`,
    ...(ipv6 === undefined ? [] : [`  IPv6 ${JSON.stringify(ipv6)}`]),
    ...(hasPodVpc ? ['  pods in another VPC than the instances'] : []),
    ...nodes.map((node) => {
      const { zone, type, protocol, ipam, eni } = node;
      const agent = `${protocol}${node.ipv6 === true ? ' with IPv6' : ''}`;
      return `  node in zone ${zone}: ${type}, ${agent}, ${JSON.stringify(ipam)} ${JSON.stringify(eni)}`;
    }),
    ...workloads.map((workload) => `  pods ${JSON.stringify(workload)}`),
    ...(minMutations === 0
      ? []
      : [`  nodes replaced at the end, up to ${minMutations} changes of the cloud`]),
    ...faults.map(({ at, ...fault }) => `  ${(at / 1000).toFixed(0).padStart(6)} s ${JSON.stringify(fault)}`),
  ].join('\n');
}
