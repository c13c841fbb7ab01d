// The secrets of OAuth clients, which replace each other: each is good from its creation to its removal, and no creation is made twice.

import { pick } from '../../help/random.ts'
import type { History } from './history.ts'
import { granted, type Reply, send } from './send.ts'
import type { Town, TownGateway } from './servers.ts'

interface Secret {
  /** Its record in the history. */
  readonly key: string
  readonly value: string
}

/** What the client does next with its app; it is repeated until it is known to be done. */
interface Step {
  readonly kind: 'rotate' | 'drop'
  readonly began: number
  readonly name: string
}

interface App {
  readonly id: string
  /** Those that are good, the oldest first, and some that were removed. */
  readonly secrets: Secret[]
  readonly removed: Secret[]
  step: Step | null
}

export class Secrets {
  readonly #town: Town
  readonly #history: History
  readonly #random: () => number
  readonly #apps = new Map<string, App>()
  /** What the API said that it cannot say where nothing is lost. */
  readonly contradictions: string[] = []
  #steps = 0

  constructor(town: Town, history: History, random: () => number) {
    this.#town = town
    this.#history = history
    this.#random = random
  }

  /** Creates an app for a client. */
  async prepare(client: string): Promise<void> {
    const began = this.#history.now()
    const fields = {
      client_name: client,
      grant_types: ['authorization_code'],
      response_types: ['code'],
      token_endpoint_auth_method: 'client_secret_post',
      redirect_uris: ['https://app.example.com/callback'],
      scopes: ['ai_gateway.read'],
    }
    const gateway = this.#town.gateways[0]!
    const { body } = await granted(() =>
      this.#ask(gateway, 'POST', '', fields, { 'idempotency-key': client }),
    )
    const result = body.result as { readonly client_id: string; readonly client_secret: string }
    const app: App = { id: result.client_id, secrets: [], removed: [], step: null }
    this.#add(app, result.client_secret, client, began)
    this.#apps.set(client, app)
  }

  async act(gateway: TownGateway, client: string): Promise<boolean> {
    const app = this.#apps.get(client)!
    if (this.#random() < 0.5) return this.#use(app, gateway, client)
    app.step ??= {
      kind: app.secrets.length > 1 ? 'drop' : 'rotate',
      began: this.#history.now(),
      name: `${app.id} ${++this.#steps}`,
    }
    return app.step.kind === 'rotate'
      ? this.#rotate(app, app.step, gateway, client)
      : this.#drop(app, app.step, gateway, client)
  }

  async #rotate(app: App, { began, name }: Step, gateway: TownGateway, client: string): Promise<boolean> {
    const headers = { 'idempotency-key': name }
    const { status, body } = await this.#ask(gateway, 'POST', `/${app.id}/rotate_secret`, undefined, headers)
    if (status !== 200) return this.#failed(app, status, body)
    const { client_secret: value } = body.result as { readonly client_secret: string }
    this.#add(app, value, client, began)
    app.step = null
    return true
  }

  /** Removes the older secret: a request that comes late must not remove a newer one. */
  async #drop(app: App, { began, name }: Step, gateway: TownGateway, client: string): Promise<boolean> {
    const { status: found, headers, body: view } = await this.#ask(gateway, 'GET', `/${app.id}`)
    if (found !== 200) return this.#failed(app, found, view)
    const { has_rotated_secret: hasOld } = view.result as { readonly has_rotated_secret: boolean }
    const condition = { 'if-match': headers.get('etag')! }
    // Where an earlier attempt has removed it, another change shows whether that is confirmed.
    const { status, body } = hasOld
      ? await this.#ask(gateway, 'DELETE', `/${app.id}/rotate_secret`, undefined, condition)
      : await this.#ask(gateway, 'PATCH', `/${app.id}`, { client_name: name }, condition)
    if (status !== 200) return this.#failed(app, status, body)
    const secret = app.secrets.shift()!
    const ended = this.#history.now()
    this.#history.add({ kind: 'write', key: secret.key, client, began, ended, value: null })
    app.removed.push(secret)
    app.step = null
    return true
  }

  /** Authenticates with a secret, as an app does to ask about a token. */
  async #use(app: App, gateway: TownGateway, client: string): Promise<boolean> {
    const { key, value } = pick([...app.secrets, ...app.removed.slice(-2)], this.#random)
    return this.#show(app, { key, value }, gateway, client)
  }

  async #show(app: App, { key, value }: Secret, gateway: TownGateway, client: string): Promise<boolean> {
    const began = this.#history.now()
    const form = new URLSearchParams({ client_id: app.id, client_secret: value, token: 'none' })
    const { status } = await send({ url: `${gateway.admin}/oauth2/introspect`, method: 'POST', body: form })
    const ended = this.#history.now()
    const isAccepted = status === 200
    if (!isAccepted && status !== 401) {
      this.#history.failed++
      return false
    }
    this.#history.add({ kind: 'use', key, client, began, ended, isAccepted })
    return true
  }

  /** Shows each secret to both gateways, once all faults have been mended. */
  async showAll(): Promise<void> {
    for (const [client, app] of this.#apps)
      for (const gateway of this.#town.gateways)
        for (const secret of [...app.secrets, ...app.removed]) await this.#show(app, secret, gateway, client)
  }

  #add(app: App, value: string, client: string, began: number): void {
    const key = `secret ${app.secrets.length + app.removed.length + 1} of ${app.id}`
    app.secrets.push({ key, value })
    this.#history.add({ kind: 'write', key, client, began, ended: this.#history.now(), value: 'secret' })
  }

  /** Notes what cannot be: the client is the only one that changes its app. */
  #failed({ id, step }: App, status: number, body: Reply['body']): false {
    this.#history.failed++
    const isUsual = status === 0 || status === 412 || status === 429 || status >= 500
    if (!isUsual) this.contradictions.push(`${step!.kind} of ${id}: ${status} ${JSON.stringify(body)}`)
    return false
  }

  #ask(gateway: TownGateway, method: string, path: string, body?: object, headers = {}): Promise<Reply> {
    const { account, token } = this.#town
    const url = `${gateway.admin}/client/v4/accounts/${account}/oauth_clients${path}`
    return send({ url, method, token, headers, ...(body && { body }) })
  }
}
