// The account at an authority: its key is stored first, so that all machines present the same one.

import { generateKeyPair, hash } from 'node:crypto'
import { promisify } from 'node:util'
import type { Clock } from '../../base/clock.ts'
import type { SecretKeys } from '../../base/secrets/secret-keys.ts'
import type { AcmeConfig } from '../../config/model/config.ts'
import { type AcmeAccount, acmeOwner } from '../../store/records/acme.ts'
import type { Records, Versioned } from '../../store/contract/store.ts'
import type { Authority, AuthorityAccount } from './authority.ts'

export class UnreadableKey extends Error {
  override readonly name = 'UnreadableKey'
}

interface AccountsOptions {
  readonly records: Records<AcmeAccount>
  readonly secrets: SecretKeys
  readonly clock: Clock
  readonly connect: (config: AcmeConfig, account: AuthorityAccount) => Promise<Authority>
}

interface Opening {
  readonly config: AcmeConfig
  readonly isForced: boolean
  readonly authority: Promise<Authority>
}

type AccountState = Pick<AcmeAccount, 'restUntil' | 'failures'>

export class Accounts {
  readonly #options: AccountsOptions
  #authority: { readonly config: AcmeConfig; readonly key: string; readonly authority: Authority } | null =
    null
  #opening: Opening | null = null
  /** The authority of the opening under way, once connected to. */
  #connected: Authority | null = null
  #isClosed = false

  constructor(options: AccountsOptions) {
    this.#options = options
  }

  /** In ms since the epoch; 0 for no limit. */
  async restUntil(config: AcmeConfig): Promise<number> {
    const stored = await this.#options.records.get(acmeOwner, idOf(config))
    return stored?.record.restUntil ?? 0
  }

  /** With `isForced`, an unreadable key is replaced. Calls for the same share a result; others wait. */
  open(config: AcmeConfig, isForced: boolean): Promise<Authority> {
    const before = this.#opening
    if (before?.config === config && before.isForced === isForced) return before.authority
    const authority = settled(before?.authority).then(() => this.#open(config, isForced))
    const opening = { config, isForced, authority }
    this.#opening = opening
    void settled(authority).then(() => {
      if (this.#opening === opening) this.#opening = null
    })
    return authority
  }

  /** Does nothing if another process has just done so. */
  async note(config: AcmeConfig, change: (before: AccountState) => AccountState): Promise<void> {
    const stored = await this.#options.records.get(acmeOwner, idOf(config))
    if (stored === null) return
    const { restUntil, failures } = change(stored.record)
    if (restUntil === stored.record.restUntil && failures === stored.record.failures) return
    await this.#options.records.replace({ ...stored.record, restUntil, failures }, stored.version)
  }

  async forget(config: AcmeConfig): Promise<void> {
    this.#leave()
    const stored = await this.#options.records.get(acmeOwner, idOf(config))
    if (stored !== null) await this.#options.records.replace({ ...stored.record, url: null }, stored.version)
  }

  /** Ends openings that are under way, and later ones, with an AbortError. */
  close(): void {
    this.#isClosed = true
    this.#connected?.close()
    this.#leave()
  }

  #leave(): void {
    this.#authority?.authority.close()
    this.#authority = null
  }

  async #open(config: AcmeConfig, isForced: boolean): Promise<Authority> {
    const stored = await this.#keyed(config, isForced)
    const key = this.#keyOf(stored.record)!
    const cached = this.#authority
    const isCached = cached?.config === config && cached.key === key && stored.record.url !== null
    if (isCached && stored.record.email === config.email) return cached.authority
    this.#leave()
    const { url } = stored.record
    const authority = await this.#options.connect(config, { key, url })
    this.#connected = authority
    try {
      if (this.#isClosed) authority.close()
      await this.#register(authority, config, stored)
      this.#authority = { config, key, authority }
      return authority
    } catch (failure) {
      authority.close()
      throw failure
    } finally {
      this.#connected = null
    }
  }

  /** Has the account at the authority, with the configured address. */
  async #register(
    authority: Authority,
    config: AcmeConfig,
    { record, version }: Versioned<AcmeAccount>,
  ): Promise<void> {
    const { url, email } = record
    if (url !== null && email === config.email) return
    if (url !== null) await authority.updateContact(config.email)
    const contact = { url: url ?? (await authority.register()), email: config.email }
    // If it fails, a concurrent process has written the same.
    await this.#options.records.replace({ ...record, ...contact }, version)
  }

  async #keyed(config: AcmeConfig, isForced: boolean): Promise<Versioned<AcmeAccount>> {
    const { records } = this.#options
    const stored = await records.get(acmeOwner, idOf(config))
    if (stored !== null && this.#keyOf(stored.record) !== null) return stored
    if (stored !== null && !isForced)
      throw new UnreadableKey(
        'the key of the ACME account was sealed with an unknown key: add that key to secrets.old_keys',
      )
    const record = await this.#made(config)
    await (stored === null ? records.insert(record) : records.replace(record, stored.version))
    return this.#keyed(config, false)
  }

  async #made(config: AcmeConfig): Promise<AcmeAccount> {
    const id = idOf(config)
    return {
      account: acmeOwner,
      id,
      directory: config.directory,
      createdAt: this.#options.clock.now(),
      sealedKey: this.#options.secrets.seal(await newKey(), accountContext(id)),
      url: null,
      email: null,
      restUntil: null,
      failures: 0,
    }
  }

  #keyOf({ sealedKey, id }: AcmeAccount): string | null {
    return this.#options.secrets.unseal(sealedKey, accountContext(id))
  }
}

/** On P-256, which all authorities and clients support; PEM. */
export async function newKey(): Promise<string> {
  const { privateKey } = await promisify(generateKeyPair)('ec', { namedCurve: 'P-256' })
  return privateKey.export({ format: 'pem', type: 'pkcs8' }).toString()
}

async function settled(opening: Promise<unknown> | undefined): Promise<void> {
  await opening?.catch(() => {})
}

function idOf({ directory, binding }: AcmeConfig): string {
  return hash('sha256', JSON.stringify([directory, binding?.id ?? null]))
}

function accountContext(id: string): string {
  return `ACME account ${id}`
}
