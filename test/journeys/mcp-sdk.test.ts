// Clients of the protocol's own SDK, of both generations, find the way to a person's consent from the URL of a route alone, and use the tools behind it as far as they may.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import * as next from '@modelcontextprotocol/client'
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { settle, type Town } from './mcp-town.ts'

type Agent = Awaited<ReturnType<Town['agent']>>

/** What both generations have in common. */
interface AnyClient {
  listTools(): Promise<{ readonly tools: readonly { readonly name: string }[] }>
  callTool(call: {
    name: string
    arguments?: Record<string, unknown>
  }): Promise<{ readonly content?: unknown }>
  close(): Promise<void>
}

interface Connection {
  readonly client: AnyClient
  /** Settles once the server has said who it is. */
  readonly connected: Promise<void>
  readonly finish: (back: URLSearchParams) => Promise<void>
  readonly version: () => string | undefined
  /** Ends the session, if there is one. */
  readonly end?: () => Promise<void>
}

interface Generation {
  readonly refusal: new (...args: never[]) => Error
  readonly connect: (url: URL, agent: Agent) => Connection
}

const first: Generation = {
  refusal: UnauthorizedError,
  connect: (url, agent) => {
    const client = new Client({ name: 'test', version: '1' })
    const transport = new StreamableHTTPClientTransport(url, { authProvider: agent as never })
    return {
      client: client as AnyClient,
      connected: client.connect(transport as never),
      finish: back => transport.finishAuth(back.get('code')!),
      version: () => transport.protocolVersion,
      end: () => transport.terminateSession(),
    }
  },
}

function second(mode: next.VersionNegotiationMode): Generation {
  return {
    refusal: next.UnauthorizedError,
    connect: (url, agent) => {
      const client = new next.Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
      const transport = new next.StreamableHTTPClientTransport(url, { authProvider: agent })
      return {
        client: client as AnyClient,
        connected: client.connect(transport),
        finish: back => transport.finishAuth(back),
        version: () => client.getNegotiatedProtocolVersion(),
      }
    },
  }
}

/** Goes the whole way: refused, consented to, connected; a tool that anyone may use, a forbidden one, and one that takes more scopes. */
async function travel(t: TestContext, url: URL, agent: Agent, generation: Generation): Promise<string> {
  const stranger = generation.connect(url, agent)
  await assert.rejects(stranger.connected, generation.refusal)
  const [visit] = agent.visits
  assert.deepEqual(
    [visit!.searchParams.get('resource'), visit!.searchParams.get('scope')],
    [url.href, 'tools.use'],
  )
  await stranger.finish(await agent.consent())

  const friend = generation.connect(url, agent)
  t.after(() => friend.client.close())
  await friend.connected
  const { tools } = await friend.client.listTools()
  assert.ok(tools.some(({ name }) => name === 'get-env'))
  const echo = () => friend.client.callTool({ name: 'echo', arguments: { message: 'hi' } })
  assert.deepEqual((await echo()).content, [{ type: 'text', text: 'Echo: hi' }])

  // Forbidden is forbidden: no consent would help.
  await assert.rejects(friend.client.callTool({ name: 'get-env' }), /Not allowed here/)
  assert.equal(agent.visits.length, 1)

  // All scopes are named at once, so that one consent is enough.
  const sum = (at: Connection) => at.client.callTool({ name: 'get-sum', arguments: { a: 1, b: 2 } })
  await assert.rejects(sum(friend), generation.refusal)
  assert.deepEqual(agent.visits[1]!.searchParams.get('scope')!.split(' ').toSorted(), [
    'tools.more',
    'tools.sum',
    'tools.use',
  ])
  await friend.finish(await agent.consent())
  assert.deepEqual((await sum(friend)).content, [{ type: 'text', text: 'The sum of 1 and 2 is 3.' }])
  assert.equal(agent.visits.length, 2)
  await friend.end?.()
  return friend.version()!
}

test('clients of the SDK', async t => {
  const town = await settle(t)

  await t.test('of the first generation pass to a server with sessions', async t => {
    assert.equal(await travel(t, town.sessions, await town.agent(), first), '2025-11-25')
  })

  await t.test('of the first generation pass to a server without', async t => {
    assert.equal(await travel(t, town.stateless, await town.agent(), first), '2025-11-25')
  })

  await t.test('of the second generation pass to a server with sessions', async t => {
    assert.equal(await travel(t, town.sessions, await town.agent(), second('auto')), '2025-11-25')
  })

  await t.test('of the second generation pass to a server without', async t => {
    const agent = await town.agent()
    const before = town.origin.heads.length
    assert.equal(await travel(t, town.stateless, agent, second({ pin: '2026-07-28' })), '2026-07-28')
    const heads = town.origin.heads.slice(before)
    assert.ok(heads.length > 2)
    for (const head of heads) {
      assert.match(String(head['x-user']), /^[0-9a-f]{32}$/)
      assert.equal(head.authorization, undefined)
      assert.equal(head['mcp-protocol-version'], '2026-07-28')
    }
    // What is forbidden never gets to the server.
    assert.ok(heads.every(head => head['mcp-name'] !== 'get-env'))
  })
})
