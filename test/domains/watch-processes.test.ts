// Several processes on one store, which nobody leads, and any of which may be killed at any moment.

import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { challengeText, verificationFor } from '../../src/domains/challenge.ts'
import type { DomainVerification, OAuthClient } from '../../src/store/records/oauth-client.ts'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/contract/store.ts'
import { type DnsServer, startDns } from '../help/dns.ts'
import { until } from '../help/until.ts'
import { thorough } from '../help/thorough.ts'
import { hex, oauthClient } from '../store/contract-specimens.ts'
import { backends } from './proving.ts'

const watcher = join(import.meta.dirname, 'watcher.ts')
const minute = 60_000
const twoDays = 48 * 60 * minute
const count = 20
const account = hex(16)

/** Four watchers and twenty clients. */
class Fleet {
  readonly dns: DnsServer
  readonly store: Store
  readonly #url: string
  readonly #children: ChildProcess[] = []
  #ahead = 0

  /** Starts them for as long as `use` takes; the store may go after that. */
  static async with(
    t: TestContext,
    place: (t: TestContext) => Promise<string>,
    use: (fleet: Fleet) => Promise<void>,
  ): Promise<void> {
    const url = await place(t)
    const fleet = new Fleet(url, await openStore(url, { commandTimeout: 5_000 }), await startDns(t))
    try {
      for (let i = 0; i < 4; i++) fleet.#children.push(fleet.#fork())
      await Promise.all(fleet.#children.map(child => once(child, 'message')))
      await Promise.all(hosts.map(host => fleet.#add(host)))
      await use(fleet)
    } finally {
      await Promise.all(fleet.#children.map((_, i) => fleet.kill(i)))
      await fleet.store.close()
    }
  }

  constructor(url: string, store: Store, dns: DnsServer) {
    this.#url = url
    this.store = store
    this.dns = dns
  }

  get now(): number {
    return Date.now() + this.#ahead
  }

  #fork(): ChildProcess {
    const args = [this.#url, this.dns.address, String(this.#ahead)]
    return fork(watcher, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] }).on('error', () => {})
  }

  /** Moves the clocks of all. */
  advance(ms: number): void {
    this.#ahead += ms
    for (const child of this.#children) if (child.connected) child.send(this.#ahead, () => {})
  }

  async kill(i: number): Promise<void> {
    const child = this.#children[i]!
    if (child.exitCode !== null || child.signalCode !== null) return
    const exit = once(child, 'exit')
    child.kill('SIGKILL')
    await exit
  }

  async replace(i: number): Promise<void> {
    await this.kill(i)
    this.#children[i] = this.#fork()
  }

  async #add(host: string): Promise<void> {
    const verification = verificationFor(null, `https://${host}/`, this.now) as DomainVerification
    const client = oauthClient({ account, clientUri: `https://${host}/`, verification })
    await this.store.oauthClients.insert(client)
  }

  async all(): Promise<readonly OAuthClient[]> {
    return (await this.store.oauthClients.list(account, { offset: 0, limit: 100 })).items
  }

  async untilAll(holds: (verification: DomainVerification) => boolean): Promise<void> {
    await until(async () => (await this.all()).every(({ verification }) => holds(verification!)))
  }

  /** Publishes what is asked of every second client. */
  async publishHalf(): Promise<void> {
    for (const { verification } of await this.all())
      if (isPublished(verification!)) this.dns.txt(verification!.host, challengeText(verification!))
  }
}

const isPublished = ({ host }: DomainVerification) => /[02468]\.svc/.test(host)
const isOver = ({ nextCheckAt }: DomainVerification) => nextCheckAt === null
const hosts = Array.from({ length: count }, (_, i) => `h${i}.svc.test`)

async function endsRight(fleet: Fleet): Promise<void> {
  await fleet.untilAll(verification => !isPublished(verification) || isOver(verification))
  // Nobody is asking when the leap is made, so that no lease ends by it.
  await fleet.untilAll(verification => isOver(verification) || verification.nextCheckAt! > fleet.now)
  fleet.advance(twoDays)
  await fleet.untilAll(isOver)
  const clients = await fleet.all()
  assert.equal(clients.length, count)
  for (const { verification } of clients)
    assert.equal(verification!.status, isPublished(verification!) ? 'verified' : 'failed')
}

for (const [name, place] of Object.entries(backends)) {
  test(`${name}: each check is made by one of four processes, and all clients end in the right state`, t =>
    Fleet.with(t, place, async fleet => {
      for (let round = 1; round <= 5; round++) {
        await fleet.untilAll(({ checks }) => checks >= round)
        fleet.advance(17_000)
      }
      await fleet.publishHalf()
      await fleet.untilAll(({ checks }) => checks >= 6)
      fleet.advance(17_000)
      await endsRight(fleet)
      for (const { verification } of await fleet.all())
        assert.equal(fleet.dns.count(verification!.host), verification!.checks, verification!.host)
    }))

  test(`${name}: checks of processes that are killed are finished by others`, t =>
    Fleet.with(t, place, async fleet => {
      for (let kill = 0; kill < thorough(8, 3); kill++) {
        const before = fleet.dns.queries.length
        const releases = hosts.map(host => fleet.dns.hold(host))
        fleet.advance(minute + 1_000)
        await until(() => fleet.dns.queries.length >= before + 4)
        await fleet.replace(kill % 4)
        for (const release of releases) release()
        if (kill === 1) await move(fleet)
      }
      await fleet.publishHalf()
      // What the killed had in hand is free after the lease.
      fleet.advance(2 * minute)
      await endsRight(fleet)
      for (const { verification } of await fleet.all())
        assert.ok(fleet.dns.count(verification!.host) >= verification!.checks, verification!.host)
    }))
}

/** Gives the first client another host, as its owner does at any time. */
async function move(fleet: Fleet): Promise<void> {
  for (;;) {
    const first = (await fleet.all()).find(({ clientUri }) => clientUri === 'https://h0.svc.test/')!
    const kept = (await fleet.store.oauthClients.get(account, first.id))!
    const clientUri = 'https://moved0.svc.test/'
    const verification = verificationFor(kept.record.verification, clientUri, fleet.now)
    assert.ok(verification !== 'host_frozen')
    if (await fleet.store.oauthClients.replace({ ...kept.record, clientUri, verification }, kept.version))
      return
  }
}
