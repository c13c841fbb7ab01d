// Exclusive access to the record of a host: a process that has lost the record cannot write it.

import type { HostCertificate } from '../../store/records/acme.ts'
import type { Records, Versioned } from '../../store/contract/store.ts'

/** Ms between two heartbeats, and without any until another process may take the record over. */
const beatPeriod = 4_000
export const leaseTimeout = 15_000

export class LeaseLost extends Error {
  override readonly name = 'LeaseLost'

  constructor() {
    super('another gateway took over')
  }
}

type Change = Partial<Omit<HostCertificate, 'account' | 'id' | 'lease'>>

export class Lease {
  readonly #records: Records<HostCertificate>
  readonly #holder: string
  readonly #timer: NodeJS.Timeout
  #current: Versioned<HostCertificate>
  #isOver = false
  #writing: Promise<unknown> = Promise.resolve()

  /** Null if another process was faster. */
  static async take(
    records: Records<HostCertificate>,
    { record, version }: Versioned<HostCertificate>,
    holder: string,
  ): Promise<Lease | null> {
    const held = { ...record, lease: { holder, beat: 0 } }
    // A replacement that was made twice is refused the second time.
    await records.replace(held, version)
    const current = await records.get(record.account, record.id)
    return current?.record.lease?.holder === holder ? new Lease(records, current, holder) : null
  }

  private constructor(
    records: Records<HostCertificate>,
    current: Versioned<HostCertificate>,
    holder: string,
  ) {
    this.#records = records
    this.#current = current
    this.#holder = holder
    // A failed heartbeat is noticed by the next write that matters.
    this.#timer = setInterval(() => void this.write({}).catch(() => {}), beatPeriod).unref()
  }

  get record(): HostCertificate {
    return this.#current.record
  }

  /** Rejects with `LeaseLost`, or an error of the store. */
  write(change: Change): Promise<void> {
    return this.#next(() => ({
      ...change,
      lease: { holder: this.#holder, beat: (this.record.lease?.beat ?? 0) + 1 },
    }))
  }

  async release(change: Change = {}): Promise<void> {
    clearInterval(this.#timer)
    await this.#next(() => ({ ...change, lease: null }))
    this.#isOver = true
  }

  abandon(): void {
    clearInterval(this.#timer)
    this.#isOver = true
  }

  #next(change: () => Partial<HostCertificate>): Promise<void> {
    const write = this.#writing.catch(() => {}).then(() => this.#write(change()))
    this.#writing = write
    return write
  }

  async #write(change: Partial<HostCertificate>): Promise<void> {
    if (this.#isOver) throw new LeaseLost()
    const { record, version } = this.#current
    const next = { ...record, ...change }
    const isWritten = await this.#records.replace(next, version)
    const current = await this.#records.get(record.account, record.id)
    const isOurs = change.lease === null ? isWritten : current?.record.lease?.holder === this.#holder
    if (!isOurs || current === null) throw new LeaseLost()
    this.#current = current
  }
}
