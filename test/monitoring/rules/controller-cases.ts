// Test cases of the alerts about the controller itself.
import type { RuleCase, Values } from './rule-case.ts';

const labels = { cluster: 'c' };
const pod = 'cluster="c",job="headwater",instance="a"';

function leaders(one: string, other: string): Values {
  return {
    'headwater_leader{cluster="c",instance="a"}': one,
    'headwater_leader{cluster="c",instance="b"}': other,
  };
}

/** `stops`: how far a conflicting writer stops things; for every reason there is, changes are paused. */
function writers(stops: 'releases' | 'node' | 'fleet', stopped: string, written = '0x60'): Values {
  return {
    [`headwater_conflicting_writer{cluster="c",stops="${stops}"}`]: stopped,
    'headwater_mutations_paused{cluster="c",reason="conflictingWriter"}': stopped,
    'headwater_mutations_paused{cluster="c",reason="dryRun"}': '1x60',
    'headwater_conflicting_writes_total{cluster="c",part="pool"}': written,
  };
}

function writes(failed: string): Values {
  return {
    'headwater_ciliumnode_writes_total{cluster="c",part="status",outcome="written"}': '0+10x200',
    'headwater_ciliumnode_writes_total{cluster="c",part="status",outcome="conflict"}': '0+10x200',
    'headwater_ciliumnode_writes_total{cluster="c",part="status",outcome="denied"}': failed,
  };
}

function process(lag: string, heap = '100x100'): Values {
  return {
    [`headwater_leader{${pod}}`]: '1x100',
    [`nodejs_eventloop_lag_p99_seconds{${pod}}`]: lag,
    [`nodejs_heap_size_used_bytes{${pod}}`]: heap,
    [`headwater_heap_limit_bytes{${pod}}`]: '1000x100',
  };
}

/** `starts`: when the process started, in seconds. */
function restarts(starts: string, job = 'headwater'): Values {
  return {
    'headwater_leader{cluster="c",job="headwater",instance="a"}': '0x100',
    [`process_start_time_seconds{cluster="c",job="${job}",instance="a"}`]: starts,
  };
}

/** Another program on Node.js. */
const stranger = { 'nodejs_eventloop_lag_p99_seconds{cluster="c",job="other",instance="a"}': '2x100' };

export const controllerCases: readonly RuleCase[] = [
  {
    alert: 'HeadwaterNoLeader',
    labels,
    fires: { series: leaders('0x30', '0x30'), pending: '2m', at: '5m' },
    quiet: { because: 'one of two leads', series: leaders('0x30', '1x30'), at: '20m' },
    clears: { series: leaders('0x10 1x30', '0x40'), firing: '5m', cleared: '12m' },
    alsoFires: [
      {
        because: 'no replica is scraped, nor ever was',
        labels: {},
        series: { up: '0x30' },
        pending: '2m',
        at: '5m',
      },
      {
        because: 'every replica of one of two clusters is gone',
        series: {
          ...leaders('1x10 stale', '0x10 stale'),
          'headwater_leader{cluster="d",instance="e"}': '1x60',
        },
        pending: '13m',
        at: '20m',
      },
    ],
    alsoQuiet: [
      {
        because: 'a cluster that has been gone for hours was removed',
        series: {
          ...leaders('1x10 stale', '0x10 stale'),
          'headwater_leader{cluster="d",instance="e"}': '1x200',
        },
        at: '2h',
      },
    ],
  },
  {
    alert: 'HeadwaterTwoLeaders',
    labels,
    fires: { series: leaders('1x30', '1x30'), pending: '0m', at: '3m', shows: '2' },
    quiet: {
      because: 'one took over from the other',
      series: leaders('1x10 0x30', '0x10 1x30'),
      at: '12m',
    },
    alsoQuiet: [
      {
        because: 'two jobs scrape the one leader',
        series: {
          ...leaders('0x30', '1x30'),
          'headwater_leader{cluster="c",instance="b",job="other"}': '1x30',
        },
        at: '12m',
      },
    ],
    clears: { series: leaders('1x30', '1x10 0x30'), firing: '5m', cleared: '12m' },
  },
  {
    alert: 'HeadwaterConflictingWriter',
    labels,
    fires: { series: writers('fleet', '1x60'), pending: '0m', at: '3m' },
    quiet: {
      because: 'a single edit by hand stops releases only',
      series: writers('releases', '1x60', '0x5 1x60'),
      at: '8m',
    },
    alsoQuiet: [
      {
        because: 'only the node that is written gets nothing',
        series: writers('node', '1x60', '0+1x60'),
        at: '8m',
      },
    ],
    clears: { series: writers('fleet', '1x10 0x40'), firing: '5m', cleared: '12m' },
  },
  {
    alert: 'HeadwaterCiliumNodeEdited',
    labels,
    fires: { series: writers('releases', '1x60'), pending: '0m', at: '3m' },
    quiet: { because: 'a dry run stops changes too', series: writers('releases', '0x60'), at: '20m' },
    alsoFires: [
      {
        because: 'it goes on writing between the scrapes',
        series: writers('releases', '0x60', '0+1x60'),
        pending: '1m',
        at: '5m',
      },
    ],
    clears: { series: writers('node', '1x10 0x40'), firing: '5m', cleared: '12m' },
  },
  {
    alert: 'HeadwaterWithdrawalsHeld',
    labels,
    fires: {
      series: { 'headwater_withdrawals_held{cluster="c"}': '40x60' },
      pending: '10m',
      at: '20m',
      shows: '40',
    },
    quiet: {
      because: 'none is held',
      series: { 'headwater_withdrawals_held{cluster="c"}': '0x60' },
      at: '1h',
    },
    clears: {
      series: { 'headwater_withdrawals_held{cluster="c"}': '40x30 0x30' },
      firing: '20m',
      cleared: '32m',
    },
  },
  {
    alert: 'HeadwaterWritesFailing',
    labels,
    fires: { series: writes('0+5x200'), pending: '4m', at: '20m', shows: '50' },
    quiet: {
      because: 'conflicts are tried again at once and do not count',
      series: writes('0x200'),
      at: '1h',
    },
    alsoQuiet: [
      { because: 'one in twenty is not a tenth', series: writes('0+1x200'), at: '1h' },
      { because: 'a few are not a failure of all', series: writes('0x10 3x200'), at: '15m' },
    ],
    clears: { series: writes('0+5x20 100x100'), firing: '20m', cleared: '35m' },
  },
  {
    alert: 'HeadwaterRestarting',
    labels: { cluster: 'c', instance: 'a' },
    fires: { series: restarts('10x3 200 stale 400 stale 600x60'), pending: '8m', at: '10m', shows: '3' },
    quiet: {
      because: 'a container may end twice, such as for more memory',
      series: restarts('10x10 900x10 1800x60'),
      at: '30m',
    },
    alsoFires: [
      {
        because: 'it is down at the moment',
        series: {
          'headwater_leader{cluster="c",job="headwater",instance="a"}': '0x8 stale',
          'process_start_time_seconds{cluster="c",job="headwater",instance="a"}':
            '10x3 200 stale 400 600 stale',
        },
        pending: '7m',
        at: '12m',
        shows: '3',
      },
    ],
    alsoQuiet: [
      { because: 'another program restarts', series: restarts('0+60x60', 'other'), at: '30m' },
      { because: 'it does not restart', series: restarts('10x100'), at: '1h' },
    ],
    clears: { series: restarts('10x3 200 400 600x100'), firing: '10m', cleared: '45m' },
  },
  {
    alert: 'HeadwaterEventLoopBlocked',
    labels: { cluster: 'c', job: 'headwater', instance: 'a' },
    fires: { series: process('2x100'), pending: '5m', at: '15m', shows: '2s' },
    quiet: {
      because: 'it is another program that is blocked',
      series: { ...process('0.01x100'), ...stranger },
      at: '30m',
    },
    clears: { series: process('2x20 0.01x60'), firing: '15m', cleared: '22m' },
  },
  {
    alert: 'HeadwaterMemoryHigh',
    labels: { cluster: 'c', job: 'headwater', instance: 'a' },
    fires: { series: process('0x100', '900x100'), pending: '5m', at: '15m', shows: '90%' },
    quiet: { because: 'four fifths are in use', series: process('0x100', '800x100'), at: '1h' },
    clears: { series: process('0x100', '900x20 300x60'), firing: '15m', cleared: '22m' },
  },
];
