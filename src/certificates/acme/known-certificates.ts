// A copy of the automatic certificates in the store, which stays in use while that is unreachable.

import { isDeepStrictEqual } from 'node:util'
import { type Clock, systemClock } from '../../base/clock.ts'
import type { SecretKeys } from '../../base/secrets/secret-keys.ts'
import type { Logger } from '../../log/log.ts'
import { acmeOwner, type HostCertificate } from '../../store/records/acme.ts'
import { Follower } from '../../store/cache/follower.ts'
import { LocalCopy } from '../../store/cache/local-copy.ts'
import type { Store, Versioned } from '../../store/contract/store.ts'
import type { AutomaticTls } from './automatic.ts'
import { keyContext } from './attempt.ts'
import { leaseTimeout } from './lease.ts'

interface KnownCertificatesOptions {
  readonly store: Store
  readonly secrets: SecretKeys
  readonly log: Logger
  /** For a start while the store is unreachable; private keys in it are sealed. Null for none. */
  readonly copyPath?: string | null
  readonly clock?: Clock
}

interface Entry extends Versioned<HostCertificate> {
  /** PEM; null if there is none, or it cannot be read. */
  readonly key: string | null
  /** The same object until it changes. */
  readonly copyable: HostCertificate
  /** In monotonic ms. */
  readonly seenAt: number
}

/** Without orders, which other machines may continue. */
interface CopiedCertificates {
  readonly certificates: readonly HostCertificate[]
}

const messages = {
  unread: 'automatic certificates not read',
  failed: 'reading automatic certificates failed',
  again: 'automatic certificates read again',
  unknown: 'automatic certificates unknown: not read from the store, and no local copy',
  loaded: 'automatic certificates loaded from the local copy',
}
const copyWords = {
  unusable: 'local copy of automatic certificates unusable',
  written: 'local copy of automatic certificates written again',
  unwritten: 'writing the local copy of automatic certificates failed',
}

export class KnownCertificates {
  readonly #store: Store
  readonly #secrets: SecretKeys
  readonly #log: Logger
  readonly #clock: Clock
  readonly #copy: LocalCopy<CopiedCertificates> | null
  readonly #follower: Follower<string, CopiedCertificates>
  #entries: ReadonlyMap<string, Entry> = new Map()
  #copied: CopiedCertificates['certificates'] | null = null
  changed: () => void = () => {}

  constructor({ store, secrets, log, copyPath = null, clock = systemClock }: KnownCertificatesOptions) {
    this.#store = store
    this.#secrets = secrets
    this.#log = log
    this.#clock = clock
    const { location } = store
    const mark = 'gatehouse-certificates-1'
    this.#copy =
      copyPath === null
        ? null
        : new LocalCopy({ path: copyPath, mark, words: copyWords, location, log, clock })
    this.#follower = new Follower({
      ...{ store, log, words: messages, copy: this.#copy },
      nameOf: change => (change.kind === 'certificate' && change.account === acmeOwner ? change.id : null),
      readAll: () => this.#readAll(),
      readThese: hosts => this.#readThese(hosts),
      takeCopy: copy => this.#useCopy(copy),
    })
  }

  /** Resolves when everything, or at least the last run's copy, has been read; reading is then retried. */
  open(): Promise<void> {
    return this.#follower.open()
  }

  /** If so, a missing record means that a host has none. */
  get isRead(): boolean {
    return this.#follower.isRead
  }

  get(host: string): Entry | null {
    return this.#entries.get(host) ?? null
  }

  /** Whether the holder has not written for so long that another process may take the record over. */
  isAbandoned({ record, seenAt }: Entry): boolean {
    return record.lease !== null && this.#clock.monotonic() - seenAt > leaseTimeout
  }

  of(hosts: readonly string[]): AutomaticTls {
    const all = hosts.flatMap(host => this.#entries.get(host) ?? [])
    return {
      identities: all.flatMap(({ record: { issued }, key }) =>
        issued === null || key === null ? [] : [{ certificate: issued.chain, key }],
      ),
      challenges: all.flatMap(({ record: { id, order } }) => {
        const challenge = order?.challenge
        return challenge ? [{ host: id, ...challenge }] : []
      }),
    }
  }

  refresh(host: string): Promise<void> {
    return this.#follower.refresh(host)
  }

  close(): Promise<void> {
    return this.#follower.close()
  }

  async #readAll(): Promise<void> {
    const entries = new Map<string, Entry>()
    for await (const records of this.#store.certificates.walk(acmeOwner))
      for (const { id } of records) {
        const entry = await this.#read(id)
        if (entry !== null) entries.set(id, entry)
      }
    this.#set(entries)
  }

  async #readThese(hosts: readonly string[]): Promise<void> {
    const entries = new Map(this.#entries)
    for (const host of new Set(hosts)) {
      const entry = await this.#read(host)
      if (entry === null) entries.delete(host)
      else entries.set(host, entry)
    }
    this.#set(entries)
  }

  #set(entries: ReadonlyMap<string, Entry>): void {
    this.#entries = entries
    if (this.#follower.isClosed) return
    this.#write()
    this.changed()
  }

  /** Does nothing if only orders have changed. */
  #write(): void {
    if (this.#copy === null) return
    const certificates = [...this.#entries.values()].map(({ copyable }) => copyable)
    if (isDeepStrictEqual(certificates, this.#copied)) return
    this.#copied = certificates
    this.#copy.write(() => ({ certificates }))
  }

  #useCopy({ certificates }: CopiedCertificates): void {
    const entries = certificates.map(
      record => [record.id, this.#knownOf({ record, version: noVersion })] as const,
    )
    this.#entries = new Map(entries)
  }

  async #read(host: string): Promise<Entry | null> {
    const certificate = await this.#store.certificates.get(acmeOwner, host)
    if (certificate === null) return null
    return this.#entries.get(host)?.version === certificate.version
      ? this.#entries.get(host)!
      : this.#knownOf(certificate)
  }

  #knownOf({ record, version }: Versioned<HostCertificate>): Entry {
    const { id: host, issued } = record
    const before = this.#entries.get(host)
    const sealed = issued?.sealedKey
    const isSame = sealed !== undefined && before?.record.issued?.sealedKey === sealed
    const key = isSame
      ? before.key
      : sealed === undefined
        ? null
        : this.#secrets.unseal(sealed, keyContext(host))
    if (issued !== null && key === null && !isSame)
      this.#log.error(
        { host },
        'automatic certificate unreadable: its key was sealed with an unknown key; add that to secrets.old_keys',
      )
    const copyable = { ...record, order: null, lease: null }
    const isKept = before !== undefined && isDeepStrictEqual(before.copyable, copyable)
    return {
      record,
      version,
      key,
      copyable: isKept ? before.copyable : copyable,
      seenAt: this.#clock.monotonic(),
    }
  }
}

/** Of a record that was not read from the store, so that it is read again. */
const noVersion = -1
