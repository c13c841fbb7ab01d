// Clients of two gateways, and what they do and see: names of tokens are registers, their ids a set, and the edge takes their values.

import { setTimeout as sleep } from 'node:timers/promises'
import { permissionGroups } from '../../../src/permissions/permission-groups.ts'
import { pick, randomOf } from '../../help/random.ts'
import { until } from '../../help/until.ts'
import { Calls } from './calls.ts'
import type { History, Operation } from './history.ts'
import { Secrets } from './secrets.ts'
import { type Reply, send } from './send.ts'
import type { Town, TownGateway } from './servers.ts'

interface Member {
  readonly id: string
  readonly value: string
  isToBeRemoved: boolean
}

const registers = 3
const run = permissionGroups.find(({ name }) => name === 'AI Gateway Run')!

/** Ms between looks at whether a gateway lives, and how long that may take. */
const pulse = 200
export class Clients {
  readonly #town: Town
  readonly #history: History
  readonly #random: () => number
  readonly #secrets: Secrets
  readonly #calls: Calls
  readonly #registers: string[] = []
  readonly #members: Member[] = []
  readonly #running: Promise<void>[] = []
  #isOver = false
  #values = 0

  constructor(town: Town, history: History, seed: number) {
    this.#town = town
    this.#history = history
    this.#random = randomOf(seed)
    this.#secrets = new Secrets(town, history, this.#random)
    this.#calls = new Calls(town, history, this.#random)
  }

  /** Makes what they use, and starts some clients at each gateway, and others that use both. */
  async start(): Promise<void> {
    await this.#calls.prepare()
    while (this.#registers.length < registers) {
      const id = await this.#create(this.#town.gateways[0]!, 'first')
      if (id === null) await sleep(200)
      else this.#registers.push(id)
    }
    for (const [i, gateway] of this.#town.gateways.entries()) {
      for (const [name, deed] of [
        ['writer', this.#useRegister],
        ['maker', this.#useSet],
        ['user', this.#useEdge],
        ['caller', this.#call],
      ] as const)
        this.#running.push(this.#goOn(`${name} ${'AB'[i]}`, () => gateway, deed))
      const rotator = `rotator ${i + 1}`
      await this.#secrets.prepare(rotator)
      this.#running.push(this.#goOn(rotator, () => pick(this.#town.gateways, this.#random), this.#rotate))
      this.#running.push(this.#feel(gateway))
    }
  }

  async stop(): Promise<void> {
    this.#isOver = true
    await Promise.all(this.#running)
  }

  /** Waits until both gateways serve from the store; fails with the reason after a while. */
  async recovered(): Promise<void> {
    for (const gateway of this.#town.gateways) {
      let last = ''
      const isReady = async () => {
        last = await (await fetch(`${gateway.admin}/readyz`)).text()
        return !last.includes('degraded')
      }
      await until(isReady, 20_000).catch(() => {
        throw new Error(`a gateway has not recovered: ${last}`)
      })
    }
  }

  /**
   * Reads every record once more through both gateways, until each is read, and returns what cannot be. What calls spent
   * last may be missing where servers that sync once a second lost power.
   */
  async readAll({ mayForget }: { readonly mayForget: boolean }): Promise<readonly string[]> {
    for (const [i, gateway] of this.#town.gateways.entries())
      for (const key of [...this.#registers, ...this.#members.map(({ id }) => id)])
        await until(async () => (await this.#read(gateway, `reader ${'AB'[i]}`, key, true)) !== null)
    await this.#secrets.showAll()
    return [...this.#secrets.contradictions, ...(await this.#calls.contradictions(mayForget))]
  }

  async #goOn(client: string, at: () => TownGateway, deed: Deed): Promise<void> {
    while (!this.#isOver) {
      const isDone = await deed.call(this, at(), client)
      await sleep(isDone ? 10 : 200)
    }
  }

  /** Notes when a gateway is slow to respond although that takes no store: so is all that it does. */
  async #feel(gateway: TownGateway): Promise<void> {
    while (!this.#isOver) {
      const began = this.#history.now()
      await fetch(`${gateway.admin}/healthz`, { signal: AbortSignal.timeout(10_000) }).then(
        response => response.text(),
        () => {},
      )
      const ended = this.#history.now()
      if (ended - began > pulse) this.#history.pauses.push({ began, ended })
      await sleep(pulse)
    }
  }

  #rotate(gateway: TownGateway, client: string): Promise<boolean> {
    return this.#secrets.act(gateway, client)
  }

  #call(gateway: TownGateway): Promise<boolean> {
    return this.#calls.act(gateway)
  }

  async #useRegister(gateway: TownGateway, client: string): Promise<boolean> {
    const key = pick(this.#registers, this.#random)
    const seen = await this.#read(gateway, client, key)
    if (seen === null || this.#random() < 0.4) return seen !== null
    const { etag, name } = seen
    const value = `v${++this.#values}`
    const isConditional = this.#random() < 0.7 && etag !== null
    const began = this.#history.now()
    const body = { name: value, policies: this.#policies }
    const headers = isConditional ? { 'if-match': etag } : {}
    const { status } = await this.#ask(gateway, 'PUT', `tokens/${key}`, body, headers)
    if (status === 412) return true
    const ended = status === 200 ? this.#history.now() : Number.POSITIVE_INFINITY
    const expected = isConditional && name !== null ? name : undefined
    this.#history.add({ kind: 'write', key, client, began, ended, value, expected })
    return status === 200
  }

  async #useSet(gateway: TownGateway, client: string): Promise<boolean> {
    const own = this.#members.filter(({ isToBeRemoved }) => !isToBeRemoved)
    const chance = this.#random()
    if (own.length < 4 || chance < 0.25) return (await this.#create(gateway, client)) !== null
    const member = pick(chance < 0.5 ? own : this.#members.slice(-12), this.#random)
    if (chance > 0.5) return (await this.#read(gateway, client, member.id)) !== null
    member.isToBeRemoved = true
    return this.#remove(gateway, client, member)
  }

  async #useEdge(gateway: TownGateway, client: string): Promise<boolean> {
    const member = this.#members.length === 0 ? null : pick(this.#members.slice(-8), this.#random)
    if (member === null) return false
    const began = this.#history.now()
    const path = `/client/v4/accounts/${this.#town.account}/ai/v1/models`
    const url = gateway.edge + path
    const { status } = await send({ url, method: 'GET', token: member.value })
    const ended = this.#history.now()
    const isAccepted = status === 200
    if (!isAccepted && status !== 401) return this.#failed()
    this.#history.add({ kind: 'use', key: member.id, client, began, ended, isAccepted })
    return true
  }

  async #create(gateway: TownGateway, client: string): Promise<string | null> {
    const isRegister = client === 'first'
    const began = this.#history.now()
    const body = { name: isRegister ? 'v0' : 'member', policies: this.#policies }
    const { status, body: reply } = await this.#ask(gateway, 'POST', 'tokens', body)
    // Nobody learns its id: it may be there, and nobody asks for it.
    if (status !== 200) return this.#failed() || null
    const result = reply.result as { readonly id: string; readonly value: string }
    const { id } = result
    this.#write({ key: id, client, began, ended: this.#history.now(), value: body.name })
    if (!isRegister) this.#members.push({ id, value: result.value, isToBeRemoved: false })
    return id
  }

  async #remove(gateway: TownGateway, client: string, { id: key }: Member): Promise<boolean> {
    const began = this.#history.now()
    const { status } = await this.#ask(gateway, 'DELETE', `tokens/${key}`)
    const now = this.#history.now()
    if (status === 404) this.#history.add({ kind: 'read', key, client, began, ended: now, value: null })
    else
      this.#write({ key, client, began, ended: status === 200 ? now : Number.POSITIVE_INFINITY, value: null })
    return status === 200
  }

  /** Null where nothing was learned. */
  async #read(gateway: TownGateway, client: string, key: string, isFinal = false) {
    const began = this.#history.now()
    const { status, headers, body } = await this.#ask(gateway, 'GET', `tokens/${key}`)
    if (status !== 200 && status !== 404) return this.#failed() || null
    const name = status === 200 ? (body.result as { readonly name: string }).name : null
    this.#history.add({ kind: 'read', key, client, began, ended: this.#history.now(), value: name, isFinal })
    return { etag: headers.get('etag'), name }
  }

  #write(write: Omit<Extract<Operation, { kind: 'write' }>, 'kind'>): void {
    this.#history.add({ kind: 'write', ...write })
  }

  #failed(): false {
    this.#history.failed++
    return false
  }

  get #policies() {
    const resources = { [`svc.api.account.${this.#town.account}`]: '*' }
    return [{ effect: 'allow', permission_groups: [{ id: run.id }], resources }]
  }

  #ask(gateway: TownGateway, method: string, path: string, body?: object, headers = {}): Promise<Reply> {
    const { account, token } = this.#town
    const url = `${gateway.admin}/client/v4/accounts/${account}/${path}`
    return send({ url, method, token, headers, ...(body && { body }) })
  }
}

type Deed = (this: Clients, gateway: TownGateway, client: string) => Promise<boolean>
