// A client that the conformance suite starts with the URL of a server of its own: with `route` before it, the client gets there through a gateway.

import { test } from 'node:test'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { startEdge, zoneTo } from '../../help/edge.ts'

const [way, url] = process.argv.slice(-2)
const mode = process.env.MCP_CONFORMANCE_PROTOCOL_VERSION === '2026-07-28' ? 'auto' : 'legacy'
const valueByType = new Map<unknown, unknown>([
  ['number', 5],
  ['integer', 5],
  ['boolean', true],
])

test('lists the tools and calls each', async t => {
  const server = new URL(url!)
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
  await client.connect(new StreamableHTTPClientTransport(way === 'route' ? await routeTo(server) : server))
  const { tools } = await client.listTools()
  for (const { name, inputSchema } of tools) {
    const parameters = Object.entries(inputSchema.properties ?? {}) as [string, { type?: unknown }][]
    const given = parameters.map(([name, { type }]) => [name, valueByType.get(type) ?? 'text'])
    // Some servers refuse such calls; the suite judges what it got.
    await client.callTool({ name, arguments: Object.fromEntries(given) }).catch(() => {})
  }
  await client.close()

  async function routeTo({ origin, pathname }: URL): Promise<URL> {
    const mcp = { bodyLimit: 2 ** 20, origins: [], rules: [], otherwise: 'allow' } as const
    const edge = await startEdge(t, [origin])
    const zone = { ...zoneTo([origin], { route: { path: pathname, mcp } }), hosts: ['127.0.0.1'] }
    edge.reload({ ...edge.config, zones: [zone] })
    return new URL(pathname, `http://127.0.0.1:${edge.port}`)
  }
})
