// A gateway before two MCP servers, of which one has sessions and one has none, with a person in it and an agent that is a public OAuth client.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import {
  auth,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type StoredOAuthTokens,
} from '@modelcontextprotocol/client'
import { McpServer } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { freePort } from '../help/free-port.ts'
import { type RunningGateway, startGateway } from '../help/gateway.ts'
import { Jar } from '../help/jar.ts'
import { type McpOrigin, startEverything, startMcpOrigin } from '../help/mcp-origin.ts'

const callback = 'http://127.0.0.1:1/callback'

/** A server with some of the tools that the reference server has. */
function makeServer(): McpServer {
  const server = new McpServer({ name: 'origin', version: '1' })
  const said = (text: string) => ({ content: [{ type: 'text' as const, text }] })
  server.registerTool('echo', { inputSchema: z.object({ message: z.string() }) }, ({ message }) =>
    said(`Echo: ${message}`),
  )
  const numbers = z.object({ a: z.number(), b: z.number() })
  server.registerTool('get-sum', { inputSchema: numbers }, ({ a, b }) =>
    said(`The sum of ${a} and ${b} is ${a + b}.`),
  )
  server.registerTool('get-env', {}, () => said('secret'))
  return server
}

export interface Town {
  readonly gateway: RunningGateway
  /** Of the routes: with sessions and without. */
  readonly sessions: URL
  readonly stateless: URL
  /** What is behind the latter. */
  readonly origin: McpOrigin
  /** Registers an agent, which has no consent yet. */
  readonly agent: () => Promise<Agent>
}

/** Both routes have a gate, forbid the tool get-env, and demand a scope more for get-sum. */
export async function settle(t: TestContext): Promise<Town> {
  const [everything, origin] = await Promise.all([startEverything(t), startMcpOrigin(t, makeServer)])
  const edge = `127.0.0.1:${await freePort()}`
  const guarded = `
        protect: { token: { scopes: [tools.use], fields: { X-User: sub } } }
        mcp:
          rules:
            - { tools: get-env, action: deny }
            - { tools: get-sum, scopes: [tools.sum, tools.more] }`
  const gateway = await startGateway(
    t,
    `listen: ['${edge}']
admin: 127.0.0.1:0
oauth: { issuer: 'http://${edge}' }
scopes: { tools.use: Use the tools., tools.sum: Add numbers., tools.more: Add more numbers. }
pools:
  everything: { origins: ['${new URL(everything).origin}'] }
  stateless: { origins: ['${new URL(origin.url).origin}'] }
zones:
  - hosts: ['127.0.0.1']
    routes:
      - path: /mcp
        pool: everything${guarded}
      - path: /stateless/mcp
        pool: stateless${guarded}
`,
  )
  const { setUp, account, token } = await gateway.firstStart
  const person = new Jar()
  await person.send(await person.open(setUp!), {
    email: 'ada@example.com',
    password: 'correct horse battery',
  })
  const register = async () => {
    const response = await fetch(`${gateway.admin}/client/v4/accounts/${account}/oauth_clients`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        client_name: 'Agent',
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        redirect_uris: [callback],
        scopes: ['offline_access', 'tools.use', 'tools.sum', 'tools.more'],
        token_endpoint_auth_method: 'none',
      }),
    })
    const { result, errors } = (await response.json()) as { result: { client_id: string }; errors: unknown[] }
    assert.deepEqual(errors, [])
    return new Agent(result.client_id, `http://${edge}`, person)
  }
  return {
    gateway,
    sessions: new URL(`http://${edge}/mcp`),
    stateless: new URL(`http://${edge}/stateless/mcp`),
    origin,
    agent: register,
  }
}

/** Has a person allow a new agent what a route asks for, and returns its token and what the authorization server called back with. */
export async function tokenFor(town: Town, url: URL) {
  const agent = await town.agent()
  assert.equal(await auth(agent, { serverUrl: url }), 'REDIRECT')
  const back = await agent.consent()
  const code = { authorizationCode: back.get('code')!, iss: back.get('iss')! }
  assert.equal(await auth(agent, { serverUrl: url, ...code }), 'AUTHORIZED')
  return { token: agent.tokens()!.access_token, back }
}

/** What an agent keeps of the flow, and where it sends its person. */
class Agent implements OAuthClientProvider {
  readonly redirectUrl = callback
  readonly clientMetadata = { redirect_uris: [callback], token_endpoint_auth_method: 'none' }
  /** Where it sent its person so far. */
  readonly visits: URL[] = []
  readonly #client: { readonly client_id: string; readonly issuer: string }
  readonly #person: Jar
  #tokens: StoredOAuthTokens | undefined
  #discovery: OAuthDiscoveryState | undefined
  #verifier = ''

  constructor(clientId: string, issuer: string, person: Jar) {
    this.#client = { client_id: clientId, issuer }
    this.#person = person
  }

  clientInformation() {
    return this.#client
  }

  tokens() {
    return this.#tokens
  }

  saveTokens(tokens: StoredOAuthTokens) {
    this.#tokens = tokens
  }

  redirectToAuthorization(url: URL) {
    this.visits.push(url)
  }

  saveCodeVerifier(verifier: string) {
    this.#verifier = verifier
  }

  codeVerifier() {
    return this.#verifier
  }

  saveDiscoveryState(state: OAuthDiscoveryState) {
    this.#discovery = state
  }

  discoveryState() {
    return this.#discovery
  }

  /** Has the person consent on our page where it was sent last, and returns what it is called back with. */
  async consent(): Promise<URLSearchParams> {
    // Nothing listens at the callback.
    await assert.rejects(this.allow(this.visits.at(-1)!), { code: 'ECONNREFUSED' })
    return new URL(this.#person.trail.at(-1)!).searchParams
  }

  /** Has the person consent on the page of an authorization request, and call back. */
  async allow(url: URL): Promise<void> {
    const page = await this.#person.open(url)
    assert.match(page.body, /asks to act for you/)
    await this.#person.send(page, { decision: 'allow' })
  }
}
