// AI calls that are made once and paid for: a provider that counts them, callers that repeat them, and two budgets.

import { once } from 'node:events'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { pick } from '../../help/random.ts'
import { until } from '../../help/until.ts'
import type { History } from './history.ts'
import { granted, type Reply, send } from './send.ts'
import type { Town, TownGateway } from './servers.ts'

/** The tokens of each call: fewer than it reserves. */
const usage = { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 }
/** One budget is never used up, the other one soon. */
const models = { 'gpt-4o': 1_000_000, 'gpt-4o-mini': 600 } as const
type Model = keyof typeof models
/** Ms until all processes have told the store what they spent, and the leases of dead ones have ended. */
const settling = 60_000

interface Made {
  readonly model: Model
  times: number
}

/** A provider on the network of control, which nothing cuts off: it knows how often each call was made. */
export class CountingProvider {
  readonly made = new Map<string, Made>()
  url = ''
  #serial = 0

  async start(t: TestContext, host: string): Promise<void> {
    const server = createServer(async (request, response) => {
      response.setHeader('content-type', 'application/json')
      if (request.method === 'GET') return void response.end('{"object":"list","data":[]}')
      const { model, messages } = JSON.parse(await text(request)) as {
        readonly model: Model
        readonly messages: readonly { readonly content: string }[]
      }
      const { content } = messages[0]!
      const made = this.made.get(content) ?? { model, times: 0 }
      made.times++
      this.made.set(content, made)
      const message = { role: 'assistant', content: `response ${++this.#serial}` }
      response.end(
        JSON.stringify({
          id: 'chatcmpl-1',
          object: 'chat.completion',
          created: 1_767_225_600,
          model,
          choices: [{ index: 0, message, finish_reason: 'stop' }],
          usage,
        }),
      )
    })
    t.after(() => server.close().closeAllConnections())
    server.listen(0, host)
    await once(server, 'listening')
    const { port } = server.address() as { readonly port: number }
    this.url = `http://${host}:${port}`
  }
}

interface Call {
  readonly content: string
  readonly model: Model
  /** What the provider said, by what callers got; one of them, if it was made once. */
  readonly responses: Set<string>
}

export class Calls {
  readonly #town: Town
  readonly #history: History
  readonly #random: () => number
  readonly #calls: Call[] = []

  constructor(town: Town, history: History, random: () => number) {
    this.#town = town
    this.#history = history
    this.#random = random
  }

  /** Has the gateway make calls once, and limits what they spend. */
  async prepare(): Promise<void> {
    const rules = Object.entries(models).map(([model, limit]) => ({
      ...{ id: model, limit, limitType: 'tokens', window: 'month' },
      model: { mode: 'filter', values: [model] },
    }))
    const settings = { idempotency_keys: true, spend_limits: { rules } }
    const gateway = this.#town.gateways[0]!
    await granted(() => this.#ask(gateway, 'PUT', '', settings))
  }

  /** Makes a call, or one of the last ones again. */
  async act(gateway: TownGateway): Promise<boolean> {
    const isNew = this.#calls.length === 0 || this.#random() < 0.5
    const call = isNew ? this.#next() : pick(this.#calls.slice(-6), this.#random)
    const { status, body } = await send({
      url: `${gateway.edge}/client/v4/accounts/${this.#town.account}/ai/v1/chat/completions`,
      method: 'POST',
      token: this.#town.token,
      headers: { 'idempotency-key': call.content },
      body: {
        model: `openai/${call.model}`,
        max_tokens: 10,
        messages: [{ role: 'user', content: call.content }],
      },
    })
    if (status !== 200) {
      this.#history.failed++
      return status === 429
    }
    this.#history.calls++
    const { choices } = body as { readonly choices: readonly { readonly message: { content: string } }[] }
    call.responses.add(choices[0]!.message.content)
    return true
  }

  #next(): Call {
    const model = this.#random() < 0.7 ? 'gpt-4o' : 'gpt-4o-mini'
    const call: Call = { content: `call ${this.#calls.length + 1}`, model, responses: new Set() }
    this.#calls.push(call)
    return call
  }

  /** What was promised, and is not so: calls made twice, spending forgotten unless it may be, and budgets exceeded. */
  async contradictions(mayForget: boolean): Promise<readonly string[]> {
    const { made } = this.#town.provider
    const twice = [...made].filter(([, { times }]) => times > 1)
    const differing = this.#calls.filter(({ responses }) => responses.size > 1)
    const unmade = this.#calls.filter(({ content, responses }) => responses.size > 0 && !made.has(content))
    const tokensOf = (model: Model) =>
      [...made.values()].filter(one => one.model === model).reduce((sum, { times }) => sum + times, 0) *
      usage.total_tokens
    const exceeded = Object.entries(models).filter(([model, limit]) => tokensOf(model as Model) > limit)
    const forgotten = await Promise.all(
      (mayForget ? [] : Object.keys(models)).map(async model => {
        let spent = 0
        const needed = tokensOf(model as Model)
        const isCounted = async () => (spent = await this.#spent(model)) >= needed
        return until(isCounted, settling).then(
          () => [],
          () => [`of ${model}, ${spent} tokens are spent of the ${needed} that the provider counted`],
        )
      }),
    )
    return [
      ...twice.map(([content, { times }]) => `${content} was made ${times} times`),
      ...differing.map(({ content, responses }) => `${content} has the responses ${[...responses].join()}`),
      ...unmade.map(({ content }) => `${content} has a response, and was not made`),
      ...exceeded.map(
        ([model, limit]) => `of ${model}, ${tokensOf(model as Model)} tokens were spent, of ${limit}`,
      ),
      ...forgotten.flat(),
    ]
  }

  async #spent(id: string): Promise<number> {
    const { status, body } = await this.#ask(this.#town.gateways[0]!, 'GET', '/budgets')
    if (status !== 200) return 0
    const rules = body.result as readonly {
      readonly rule: { readonly id: string }
      readonly budgets: readonly { readonly spent: number }[]
    }[]
    return rules.find(({ rule }) => rule.id === id)!.budgets.reduce((sum, { spent }) => sum + spent, 0)
  }

  #ask(gateway: TownGateway, method: string, path: string, body?: object): Promise<Reply> {
    const { account, token } = this.#town
    const url = `${gateway.admin}/client/v4/accounts/${account}/ai-gateway/gateways/default${path}`
    return send({ url, method, token, ...(body && { body }) })
  }
}
