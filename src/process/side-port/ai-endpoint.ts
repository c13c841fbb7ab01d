// The address of AI gateways for clients; the pages call it as any client would.

import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request as requestSecurely } from 'node:https'
import { isIP, isIPv6 } from 'node:net'
import { request } from '../../net/http/node-http.ts'
import type { AiConfig, Config, Listener } from '../../config/model/config.ts'
import { isLoopback } from '../../config/shape/host-rules.ts'
import { customRow, isKnown, type ProviderRow, providerRows } from '../../ai/providers/provider-rows.ts'
import type {
  GatewayEndpoint,
  ExampleProvider,
  TestCall,
  TestResponse,
} from '../../dashboard/page/gateway-endpoint.ts'
import { reachable } from '../ports/urls.ts'

interface Edge {
  readonly config: Pick<Config, 'ai' | 'oauth' | 'publicPort'>
  readonly endpoints: readonly Listener[]
}

/** Timeout of a call in ms, and the maximum number of bytes read of its response. */
const maxTime = 30_000
const maxBytes = 64 * 1024
const maxCalls = 4

export class AiEndpoint {
  readonly #edge: () => Edge
  #running = 0

  constructor(edge: () => Edge) {
    this.#edge = edge
  }

  /** Null if the configuration has no host for AI calls, or nothing listens yet. */
  get current(): GatewayEndpoint | null {
    const { config, endpoints } = this.#edge()
    const [host] = config.ai.hosts
    const endpoint = endpoints.find(({ tls }) => tls) ?? endpoints[0]
    if (host === undefined || endpoint === undefined) return null
    const origin = originOf(host, endpoint, config)
    return {
      origin,
      provider: exampleOf(config.ai),
      aliases: config.ai.models.map(({ name, steps }) => ({ name, models: steps.map(({ model }) => model) })),
      send: call => this.#send(call, endpoint, new URL(origin).host),
    }
  }

  async #send(call: TestCall, endpoint: Listener, host: string): Promise<TestResponse> {
    if (this.#running >= maxCalls) throw new Error('Too many test requests are running. Wait for one to end.')
    this.#running++
    try {
      return await send(call, endpoint, host)
    } catch (cause) {
      const isTimeout = (cause as Error).name === 'AbortError'
      throw new Error(
        isTimeout
          ? `There was no whole response within ${maxTime / 1000} s.`
          : 'The edge of this gateway could not be reached.',
        { cause },
      )
    } finally {
      this.#running--
    }
  }
}

/** By https, at the edge's or the public port, if clients reach the issuer so. */
function originOf(host: string, { port, tls }: Listener, { oauth, publicPort }: Edge['config']): string {
  if (isIP(host) === 0 && !isLoopback(host) && oauth.issuer?.startsWith('https:') === true)
    return new URL(`https://${host}:${new URL(oauth.issuer).port}`).origin
  const name = isIPv6(host) ? `[${host}]` : host
  if (publicPort !== null && (tls || !isLoopback(host)))
    return new URL(`https://${name}:${publicPort}`).origin
  return new URL(`${tls ? 'https' : 'http'}://${name}:${port}`).origin
}

/** Prefers a provider that has a key; one of the operator's own may need none. */
function exampleOf({ providers }: AiConfig): ExampleProvider {
  const plain = providers.filter(
    ({ name }) => !isKnown(name) || !providerRows[name].base.includes('{resource}'),
  )
  const withKeys = plain.find(({ keys }) => keys.length > 0)
  const own = withKeys ?? plain.find(({ url }) => url !== null)
  const name = own?.name ?? 'openai'
  const row: ProviderRow = isKnown(name) ? providerRows[name] : customRow({ ...own!, apis: null })
  return {
    name,
    model: models[name] ?? 'MODEL',
    path: row.endpoints.chat ?? row.endpoints.messages!,
    speaks: row.dialect,
    hasKey: own !== undefined,
  }
}

/** Small models that providers have offered for long. */
const models: Readonly<Record<string, string>> = {
  openai: 'gpt-4o-mini',
  anthropic: 'claude-3-5-haiku-latest',
  'google-ai-studio': 'gemini-2.0-flash',
  mistral: 'mistral-small-latest',
  groq: 'llama-3.1-8b-instant',
  deepseek: 'deepseek-chat',
  openrouter: 'openai/gpt-4o-mini',
}

async function send(
  { path, headers, body }: TestCall,
  endpoint: Listener,
  host: string,
): Promise<TestResponse> {
  const began = performance.now()
  const isAddress = isIP(host.replace(/:\d+$/, '').replace(/^\[|\]$/g, '')) !== 0
  const outgoing = (endpoint.tls ? requestSecurely : request)({
    host: reachable(endpoint.host),
    port: endpoint.port,
    method: 'POST',
    path,
    headers: { ...headers, host, 'content-type': 'application/json', accept: 'application/json' },
    agent: false,
    signal: AbortSignal.timeout(maxTime),
    // The peer is this very process, whoever issued its certificate.
    ...(endpoint.tls && {
      rejectUnauthorized: false,
      servername: isAddress ? '' : host.replace(/:\d+$/, ''),
    }),
  })
  outgoing.end(body)
  const [response]: [IncomingMessage] = (await once(outgoing, 'response')) as [IncomingMessage]
  const text = await beginningOf(response)
  return {
    status: response.statusCode!,
    type: response.headers['content-type'] ?? '',
    ray: (response.headers['svc-ray'] as string | undefined) ?? null,
    body: text,
    duration: performance.now() - began,
  }
}

async function beginningOf(response: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  let length = 0
  for await (const part of response as AsyncIterable<Buffer>) {
    parts.push(part)
    length += part.length
    if (length >= maxBytes) break
  }
  return Buffer.concat(parts).subarray(0, maxBytes).toString()
}
