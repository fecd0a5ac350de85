// Chapter about failover: the controller dies while Azure carries out updates that it began.
import type { AzureContext, Chapter } from '../chapter.ts';
import { latePods, rushPods } from '../chapters/pods.ts';
import { isSettled } from '../picture.ts';

const changes = ['VirtualMachineScaleSetVMs.Update', 'NetworkInterfaces.CreateOrUpdate'];

export function takeover(context: AzureContext): Chapter {
  const { cluster } = context;
  const least = Math.min(5, Math.ceil(context.nodes / 4));
  let killedAt: number | undefined;
  let leadsAt: number | undefined;
  let hasGoneOn = false;
  let before = 0;
  let now = 0;
  const sent = (): number =>
    changes.reduce((sum, action) => sum + cluster.arm.gateway.counters.get(action).calls, 0);
  const kill = (): void => {
    killedAt = now;
    const killed = context.controllerPid();
    const inFlight = updatesInFlight(context);
    context.replaceController();
    context.report(
      `KILLED process ${killed ?? '?'} with SIGKILL, started process ${context.controllerPid() ?? '?'}`,
    );
    context.report(`left behind: ${inFlight} updates that Azure has not ended`);
    context.run(latePods(context.nodes));
  };
  const reportResumption = (since: number): void => {
    hasGoneOn = true;
    const seconds = ((now - since) / 1000).toFixed(1);
    context.report(`RESUMES ${seconds} s later: the first update of the new controller`);
  };

  return {
    title: 'SIGKILL and recovery',
    hints: [
      'Pods rush in, and the controller is killed in the middle of the updates. Azure goes on with them. Another controller is',
      "started that knows nothing of them. It leads when the dead one's Lease has ended, and learns from Azure what is changing.",
    ],
    longest: Infinity,
    begin: () => context.run(rushPods(context.nodes)),
    onLogLine: ({ message }) => {
      if (message !== 'leading' || killedAt === undefined || leadsAt !== undefined) return;
      leadsAt = now;
      before = sent();
      context.report(
        `TAKEN OVER ${((now - killedAt) / 1000).toFixed(1)} s after the kill: it leads, and reads its nodes`,
      );
    },
    watch: ({ picture, elapsed }) => {
      now = elapsed;
      if (killedAt === undefined) {
        if (updatesInFlight(context) < least && elapsed < 5000) return 'running';
        kill();
      }
      if (leadsAt === undefined) return 'running';
      if (!hasGoneOn && sent() > before) reportResumption(leadsAt);
      return isSettled(picture, false) ? 'over' : 'running';
    },
  };
}

function updatesInFlight({ cluster }: AzureContext): number {
  const { all } = cluster.arm.cloud.operations;
  return [...all.values()].filter(({ status }) => status === 'InProgress').length;
}
