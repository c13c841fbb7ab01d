// A network of machines in namespaces of Linux, whose parts can be cut off from each other: nothing of it outlives this process.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'

/** Set in the process that has a network of its own. */
const within = 'STORE_HISTORY_NETWORK'

/** Runs this command again in namespaces of its own, one of them of mounts, and ends with its exit code; returns where that has been done. */
export async function enterNetwork(): Promise<void> {
  if (process.env[within] !== undefined) return
  const args = ['--user', '--map-root-user', '--net', '--mount', process.execPath, ...process.argv.slice(1)]
  const child = spawn('unshare', args, { stdio: 'inherit', env: { ...process.env, [within]: '1' } })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal))
  const [code] = await once(child, 'exit')
  process.exit(code ?? 1)
}

export interface Machine {
  readonly number: number
  /** Where this process reaches it: that link is never cut. */
  readonly control: string
  /** Where other machines reach it. */
  readonly address: string
  /** What starts a program on it. */
  readonly by: readonly string[]
}

/** Machines of all rounds: an address that came again would be spoken to on connections to the one before. */
let machineCount = 0

/** Machines on a switch each can be moved from to another, on which it reaches only those that were moved, too. */
export class Network {
  /** Where machines reach this process. */
  readonly control = '10.0.0.1'
  readonly #holders = new Map<number, ChildProcess>()

  constructor() {
    ip('link set lo up')
    for (const bridge of ['control', 'main', 'aside']) {
      ip(`link add ${bridge} type bridge`)
      ip(`link set ${bridge} up`)
    }
    ip(`addr add ${this.control}/24 dev control`)
  }

  async add(): Promise<Machine> {
    const number = 11 + (machineCount++ % 240)
    // Holds the namespace until the end of its input, which comes with that of this process.
    const holder = spawn('unshare', ['--net', 'sh', '-c', 'echo; exec cat'], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    this.#holders.set(number, holder)
    await once(holder.stdout!, 'data')
    // What runs there ends with this process, however that ends.
    const by = ['setpriv', '--pdeathsig', 'KILL', 'nsenter', '--net', '--target', String(holder.pid)]
    const machine = { number, control: `10.0.0.${number}`, address: `10.0.1.${number}`, by }
    for (const [bridge, address] of [
      ['control', machine.control],
      ['main', machine.address],
    ] as const) {
      const name = `${bridge}${number}`
      ip(`link add ${name} type veth peer name ${bridge} netns ${holder.pid}`)
      ip(`link set ${name} master ${bridge} up`)
      for (const command of [
        `addr add ${address}/24 dev ${bridge}`,
        `link set ${bridge} up`,
        'link set lo up',
      ])
        execFileSync(by[0]!, [...by.slice(1), 'ip', ...command.split(' ')])
    }
    return machine
  }

  /** Cuts machines off from all others, together. */
  isolate(machines: readonly Machine[]): void {
    for (const { number } of machines) ip(`link set main${number} master aside`)
  }

  heal(): void {
    for (const number of this.#holders.keys()) ip(`link set main${number} master main`)
  }

  end(): void {
    for (const holder of this.#holders.values()) holder.stdin!.end()
    const ends = [...this.#holders.keys()].flatMap(number => [`control${number}`, `main${number}`])
    for (const link of [...ends, 'control', 'main', 'aside']) ip(`link del ${link}`)
  }
}

function ip(command: string): void {
  execFileSync('ip', command.split(' '))
}
