// Notifies systemd (sd_notify(3)) through the C library: Node has no API for datagrams to Unix sockets.

const variables = ['NOTIFY_SOCKET', 'WATCHDOG_USEC', 'WATCHDOG_PID'] as const

type Send = (text: string) => void

/** Interval and length of the extensions of a start that waits, in ms. */
const extension = { period: 10_000, length: 60_000 }

export class ServiceManager {
  readonly env: Readonly<Record<string, string>>
  readonly #send: Send
  /** Interval of watchdog pings in ms; null without a watchdog. */
  readonly #beat: number | null
  #watchdog: NodeJS.Timeout | undefined
  #extensions: NodeJS.Timeout | undefined

  private constructor(env: Record<string, string>, beat: number | null, send: Send) {
    this.env = env
    this.#beat = beat
    this.#send = send
  }

  /** Removes systemd's variables from `env`, so that child processes do not speak for the service. */
  static async find(
    env: NodeJS.ProcessEnv,
    failed: (cause: unknown) => void = () => {},
  ): Promise<ServiceManager> {
    const [address, microseconds, pid] = variables.map(name => env[name])
    for (const name of variables) delete env[name]
    if (!address || !/^[/@]/.test(address)) return new ServiceManager({}, null, () => {})
    const passed = {
      NOTIFY_SOCKET: address,
      ...(microseconds !== undefined && { WATCHDOG_USEC: microseconds }),
    }
    const isForUs = pid === undefined || Number(pid) === process.pid
    // Half of the time, as sd_watchdog_enabled(3) recommends.
    const beat = isForUs && Number(microseconds) > 0 ? Number(microseconds) / 2000 : null
    const send = await sender(address).catch((cause: unknown) => {
      failed(cause)
      return () => {}
    })
    return new ServiceManager(passed, beat, send)
  }

  get isFound(): boolean {
    return 'NOTIFY_SOCKET' in this.env
  }

  /** The service waits for an operator before it serves, and must not be killed however long that takes. */
  waiting(status: string): void {
    clearInterval(this.#extensions)
    const extend = () => this.#send(`EXTEND_TIMEOUT_USEC=${extension.length * 1000}\nSTATUS=${status}`)
    extend()
    this.#extensions = setInterval(extend, extension.period).unref()
  }

  /** From now on, watchdog pings are sent while `isWell` returns true. */
  ready(status: string, isWell: () => boolean): void {
    clearInterval(this.#extensions)
    this.#send(`READY=1\nSTATUS=${status}`)
    if (this.#beat === null) return
    this.#watchdog ??= setInterval(() => {
      if (isWell()) this.#send('WATCHDOG=1')
    }, this.#beat).unref()
  }

  /** The time is that of CLOCK_MONOTONIC. */
  reloading(): void {
    this.#send(`RELOADING=1\nMONOTONIC_USEC=${process.hrtime.bigint() / 1000n}`)
  }

  reloaded(status: string): void {
    this.#send(`READY=1\nSTATUS=${status}`)
  }

  stopping(): void {
    clearInterval(this.#extensions)
    this.#send('STOPPING=1\nSTATUS=finishing what runs')
  }

  replacedBy(pid: number): void {
    clearInterval(this.#watchdog)
    this.#send(`MAINPID=${pid}`)
  }
}

// Of Linux (unix(7), socket(2), send(2)).
const unixFamily = 1
const datagram = 2
const closeOnExec = 0o2000000
const noWait = 0x40
const noSignal = 0x4000

/** An address that begins with @ is abstract. Rejects if this Node cannot call the C library. */
async function sender(address: string): Promise<Send> {
  const { dlopen } = await import('node:ffi')
  const { functions } = dlopen(null, {
    socket: { arguments: ['int32', 'int32', 'int32'], return: 'int32' },
    sendto: { arguments: ['int32', 'buffer', 'uint64', 'int32', 'buffer', 'uint32'], return: 'int64' },
  })
  const family = Buffer.from(new Uint16Array([unixFamily]).buffer)
  const name = Buffer.from(address.replace(/^@/, '\0'))
  const to = Buffer.concat([family, name, Buffer.from(address.startsWith('/') ? '\0' : '')])
  const socket = functions.socket(unixFamily, datagram | closeOnExec, 0)
  return text => {
    const bytes = Buffer.from(text)
    functions.sendto(socket, bytes, BigInt(bytes.length), noSignal | noWait, to, to.length)
  }
}
