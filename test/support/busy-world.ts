// A cluster with running agents and pods, in the state in which a test begins.
import { type ControllerSetup, startController, takeOver, type WorldController } from './world-controller.ts';
import { World, type WorldOptions } from './world.ts';

export interface BusyOptions extends WorldOptions {
  readonly setup?: ControllerSetup;
  /** Pods, spread over the nodes. */
  readonly pods: number;
}

export class BusyWorld extends World {
  /** The newest controller. */
  controller: WorldController;

  constructor({ setup, ...options }: WorldOptions & { readonly setup?: ControllerSetup }) {
    super(options);
    this.controller = startController(this, setup);
  }

  /** Resolves once every pod has its address, and every node what its watermarks ask for. */
  static async start({ pods, ...options }: BusyOptions): Promise<BusyWorld> {
    const world = new BusyWorld(options);
    await world.startAgents();
    await world.advance(60_000);
    world.addLivingPods(pods);
    await world.advance(120_000);
    return world;
  }

  /** Another process takes over from a killed one. */
  takeOver(setup: ControllerSetup = {}): WorldController {
    this.controller = takeOver(this, this.controller, setup);
    return this.controller;
  }

  /** Sent calls of one action, of this controller and all earlier ones. */
  callsOf(action: string): WorldController['calls'] {
    return this.controller.calls.filter((call) => call.action === action);
  }
}
