// Summarizes the demonstration, and suggests what to try while it stays up.
import { callsInWords } from './frame.ts';
import type { Picture } from './picture.ts';

export function summaryLines(end: {
  readonly picture: Picture;
  readonly seconds: number;
  readonly verdict: string;
}): string[] {
  const { cloud, nodes, dualStack, addresses, pods, interfaces, calls, violations } = end.picture;
  return [
    '',
    `${end.verdict} (${end.seconds.toFixed(1)} s)`,
    ...violations.map(({ text }) => `  BROKEN: ${text}`),
    `  nodes       ${nodes.met} of ${nodes.total} at their watermarks, ${nodes.serving} serving pods`,
    ...(dualStack.asking === 0
      ? []
      : [
          `  IPv6        ${dualStack.met} of ${dualStack.asking} nodes that ask for it have one /80 and show it`,
        ]),
    `  addresses   ${addresses.held} held, ${addresses.used} used, ${interfaces.attached} interfaces attached, ${interfaces.detached} detached`,
    `  pods        ${pods.served} served, ${pods.waiting} waiting, the longest wait ${(pods.maxWait / 1000).toFixed(2)} s`,
    `  ${`${cloud} calls`.padEnd(11)} ${callsInWords(calls)}`,
  ];
}

export function thingsToTry(at: {
  readonly kubeconfig: string;
  readonly address: string | undefined;
  /** Path of the controller's log. */
  readonly log: string;
  readonly prometheus: string | undefined;
  /** How to look into the cloud. */
  readonly cloud: readonly string[];
}): string[] {
  const metrics =
    at.address === undefined
      ? []
      : [
          `  curl -s http://${at.address}/metrics | grep headwater_`,
          `  bin/headwater status --address=${at.address}    (or explain NODE, with the same address)`,
          `  http://${at.address}/    (the same in a browser)`,
        ];
  return [
    '',
    'still running, until you press Ctrl-C. Things to try:',
    `  export KUBECONFIG=${at.kubeconfig}`,
    '  kubectl get ciliumnodes',
    '  kubectl get pods -A -o wide',
    '  kubectl get events',
    ...metrics,
    `  tail -f ${at.log}`,
    ...(at.prometheus === undefined
      ? []
      : [
          `  ${at.prometheus}/graph?g0.expr=headwater_subnet_free_addresses&g0.tab=0`,
          `  ${at.prometheus}/alerts`,
        ]),
    ...at.cloud.map((line) => `  ${line}`),
  ];
}
