// Bans with several workers: counted together, and known to all.

import assert from 'node:assert/strict'
import { Agent, get, type IncomingMessage } from 'node:http'
import { json } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { type RunningGateway, startGateway } from '../help/gateway.ts'
import { readMetrics } from '../help/prometheus.ts'
import { siteConfig, startSite } from '../help/site.ts'
import { busySecond, until } from '../help/until.ts'

/** What is promised: how long it takes, in ms, until refusals are counted everywhere. */
const SOON = 1_000
const rules = (within: string) => `
workers: 2
trusted_proxies: [127.0.0.1]
access:
  rules: [{deny: {path: /admin}}]
  ban: {refusals: 10, within: ${within}, lasts: 10m}
`

async function start(t: TestContext) {
  const origin = await startSite(t, (_, response) => response.end('hello'))
  const gateway = await startGateway(t, siteConfig(origin, rules('10m')))
  return { gateway, origin }
}

/** A kept connection, and so one worker. */
class Caller {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })
  readonly #gateway: RunningGateway
  pid = 0

  constructor(t: TestContext, gateway: RunningGateway) {
    this.#gateway = gateway
    t.after(() => this.#agent.destroy())
  }

  /** Returns the code of the error, or 200. */
  async ask(from: string, path = '/'): Promise<number> {
    const response = await this.#get(from, path)
    if (response.statusCode !== 200) return ((await json(response)) as { error_code: number }).error_code
    response.resume()
    return 200
  }

  async refuse(from: string, times: number): Promise<void> {
    for (let i = 0; i < times; i++) assert.equal(await this.ask(from, '/admin'), 1020)
  }

  async findOut(): Promise<this> {
    const response = await this.#get('192.0.2.255', '/')
    response.resume()
    const { pid } = await this.#gateway.logged('request', ({ ray }) => ray === response.headers['svc-ray'])
    this.pid = Number(pid)
    return this
  }

  #get(from: string, path: string): Promise<IncomingMessage> {
    const headers = { accept: 'application/json', 'x-forwarded-for': from }
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    get(`${this.#gateway.edge}${path}`, { agent: this.#agent, headers }, resolve).on('error', reject)
    return promise
  }
}

/** Connects until each of the two workers has a caller; `but` is none of them. */
async function callers(t: TestContext, gateway: RunningGateway, but = 0): Promise<[Caller, Caller]> {
  const byPid = new Map<number, Caller>()
  await until(async () => {
    const caller = await new Caller(t, gateway).findOut()
    if (caller.pid !== but) byPid.set(caller.pid, caller)
    return byPid.size === 2
  })
  return [...byPid.values()] as [Caller, Caller]
}

test('bans with two workers', async t => {
  const { gateway, origin } = await start(t)

  await t.test(
    'the refusals of all workers count together, and the ban applies on each within a second',
    async t => {
      const [one, other] = await callers(t, gateway)
      await one.refuse('192.0.2.1', 4)
      await other.refuse('192.0.2.1', 5)
      await wait(SOON)
      for (const caller of [one, other]) assert.equal(await caller.ask('192.0.2.1'), 200, 'one is missing')
      await one.refuse('192.0.2.1', 1)
      for (const caller of [one, other])
        await until(async () => (await caller.ask('192.0.2.1')) === 1012, busySecond)
      assert.equal(await other.ask('192.0.2.2'), 200)
      assert.equal(readMetrics(await gateway.metrics()).samples.get('gatehouse_access_bans'), 1)
    },
  )

  await t.test(
    'a ban by one worker applies there at once, on the other within a second, and on one that starts later, and no refusal counted is lost',
    async t => {
      const [one, other] = await callers(t, gateway)
      await one.refuse('198.51.100.1', 10)
      assert.equal(await one.ask('198.51.100.1'), 1012)
      await other.refuse('198.51.100.2', 9)
      await until(async () => (await other.ask('198.51.100.1')) === 1012, busySecond)
      // What it counted before has arrived with this ban, or before it.
      await other.refuse('198.51.100.3', 10)
      await until(async () => (await one.ask('198.51.100.3')) === 1012, busySecond)
      process.kill(other.pid, 'SIGKILL')
      await gateway.logged('worker ended, starting another')
      const all = await callers(t, gateway, other.pid)
      for (const caller of all) assert.equal(await caller.ask('198.51.100.1'), 1012)
      await all.find(({ pid }) => pid !== one.pid)!.refuse('198.51.100.2', 1)
      for (const caller of all)
        await until(async () => (await caller.ask('198.51.100.2')) === 1012, busySecond)
    },
  )

  await t.test(
    'a reload keeps the bans of all workers, and lifts those whose settings it changes; new ones apply on all as before',
    async t => {
      const both = await callers(t, gateway)
      await both[0].refuse('203.0.113.1', 10)
      for (const caller of both)
        await until(async () => (await caller.ask('203.0.113.1')) === 1012, busySecond)
      for (const [within, more, code, next] of [
        ['10m', 'shutdown: {grace: 5s}', 1012, '203.0.113.2'],
        ['9m', '', 200, '203.0.113.3'],
        ['10m', '', 200, '203.0.113.4'],
      ] as const) {
        const before = gateway.lines.length
        gateway.rewrite(siteConfig(origin, `${rules(within)}${more}`))
        await gateway.logged('configuration reloaded', line => gateway.lines.indexOf(line) >= before)
        for (const caller of both) assert.equal(await caller.ask('203.0.113.1'), code)
        await both[0].refuse(next, 10)
        for (const caller of both) await until(async () => (await caller.ask(next)) === 1012, busySecond)
      }
    },
  )
})
