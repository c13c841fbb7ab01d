// A gateway as far as its own certificates go: an edge with a plain and a TLS listener, and the orders that feed it, all on real sockets.

import { once } from 'node:events'
import type { TestContext } from 'node:test'
import { connect, type TLSSocket } from 'node:tls'
import type { X509Certificate } from 'node:crypto'
import type { Clock } from '../../../src/base/clock.ts'
import { SecretKeys } from '../../../src/base/secrets/secret-keys.ts'
import { KnownCertificates } from '../../../src/certificates/acme/known-certificates.ts'
import { CertificateOrders, type OrderResult } from '../../../src/certificates/acme/orders.ts'
import {
  type CertificateStatus,
  certificateStatus,
} from '../../../src/certificates/acme/certificate-state.ts'
import type { AcmeConfig } from '../../../src/config/model/config.ts'
import { createLogger } from '../../../src/log/log.ts'
import { connectAuthority } from '../../../src/process/certificates/acme-authority.ts'
import { openStore } from '../../../src/store/open.ts'
import type { Store } from '../../../src/store/contract/store.ts'
import type { AcmeServer } from '../../help/acme-server.ts'
import { Edge, edgeConfig, listenAt } from '../../help/edge.ts'
import { ok, startResponder } from '../../help/origin.ts'
import { until } from '../../help/until.ts'

/** Opens a store that ends with the test. */
export async function memory(t: TestContext): Promise<Store> {
  const store = await openStore('sqlite::memory:', { commandTimeout: 5_000 })
  t.after(() => store.close())
  return store
}

/** The clock of the day, set forward by a test. */
export class LeapingClock implements Clock {
  #ahead = 0

  now(): number {
    return Date.now() + this.#ahead
  }

  monotonic(): number {
    return performance.now() + this.#ahead
  }

  advance(ms: number): void {
    this.#ahead += ms
  }
}

interface Settings {
  readonly server: AcmeServer
  readonly store: Store
  readonly hosts?: readonly string[]
  readonly clock?: LeapingClock
  readonly config?: Partial<AcmeConfig>
  readonly secrets?: SecretKeys
  readonly period?: number
  readonly random?: () => number
  readonly copyPath?: string
}

const usualSecrets = new SecretKeys(Buffer.alloc(32, 7))

export class Machine {
  readonly edge: Edge
  readonly known: KnownCertificates
  readonly orders: CertificateOrders
  readonly clock: LeapingClock
  readonly results: OrderResult[] = []
  readonly lines: Record<string, unknown>[] = []
  config: AcmeConfig

  static async start(t: TestContext, settings: Settings): Promise<Machine> {
    const { hosts = ['site.test'] } = settings
    const origin = await startResponder(t, () => ok('origin'))
    const edge = await listenAt(
      t,
      new Edge(t, {
        ...edgeConfig([origin.url], { zone: { hosts } }),
        listen: [false, true].map(tls => ({ host: '127.0.0.1', port: 0, tls })),
      }),
    )
    const machine = new Machine(edge, settings)
    t.after(() => machine.stop())
    await machine.known.open()
    machine.serve()
    settings.server.ports = machine.ports
    machine.orders.follow(machine.config)
    return machine
  }

  private constructor(
    edge: Edge,
    { server, store, hosts = ['site.test'], config, period = 50, ...settings }: Settings,
  ) {
    const {
      clock = new LeapingClock(),
      secrets = usualSecrets,
      random = () => 0.5,
      copyPath = null,
    } = settings
    const log = createLogger('info', { write: line => void this.lines.push(JSON.parse(line)) })
    this.edge = edge
    this.clock = clock
    this.config = {
      ...{ directory: server.directory, email: 'ops@site.test', termsAgreed: true, binding: null, ca: null },
      ...{ challenges: ['http-01', 'tls-alpn-01'], hosts, ...config },
    }
    this.known = new KnownCertificates({ store, secrets, log, copyPath, clock })
    this.known.changed = () => this.serve()
    this.orders = new CertificateOrders({
      ...{ store, secrets, certificates: this.known, log, clock, random, period, hearing: 20 },
      connect: connectAuthority,
      shared: async () => this.serve(),
      ended: result => this.results.push(result),
    })
  }

  get ports(): AcmeServer['ports'] {
    return { http: this.edge.port, tls: this.edge.plane.securePort }
  }

  /** Puts what is known into use. */
  serve(): void {
    this.edge.plane.takeCertificates(this.known.of(this.config.hosts))
  }

  follow(change: Partial<AcmeConfig>): void {
    this.config = { ...this.config, ...change }
    this.orders.follow(this.config)
    this.serve()
  }

  async stop(): Promise<void> {
    await this.orders.close()
    await this.known.close()
  }

  standing(host = 'site.test'): CertificateStatus {
    return certificateStatus(host, this.known.get(host), this.config.directory, this.clock.now())
  }

  /** Waits until the log has a line with this message, and returns it. */
  async logged(message: string, at = 0): Promise<Record<string, unknown>> {
    const matching = () => this.lines.filter(({ msg }) => msg === message)
    await until(() => matching().length > at)
    return matching()[at]!
  }

  async settled(state: CertificateStatus['state'] = 'valid', host = 'site.test'): Promise<CertificateStatus> {
    await until(() => this.standing(host).state === state && this.known.get(host)?.record.lease == null)
    return this.standing(host)
  }

  /** Returns the certificate that a client gets. */
  async shown(ca: string, servername = 'site.test'): Promise<X509Certificate> {
    const socket: TLSSocket = connect({ host: '127.0.0.1', port: this.ports.tls, servername, ca })
    try {
      await once(socket, 'secureConnect')
      return socket.getPeerX509Certificate()!
    } finally {
      socket.destroy()
    }
  }
}
