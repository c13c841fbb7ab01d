// MCP servers behind the gateway, for tests: a stranger with sessions, and one without, which says what got to it.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import type { TestContext } from 'node:test'
import { createMcpHandler, type McpServer } from '@modelcontextprotocol/server'
import { freePort } from './free-port.ts'
import { root } from './source.ts'

const everything = 'node_modules/@modelcontextprotocol/server-everything/dist/index.js'

/** Starts the reference server of the protocol, of the revisions with sessions, and returns its URL. */
export async function startEverything(t: TestContext): Promise<string> {
  const port = await freePort()
  const child = spawn(process.execPath, [join(root, everything), 'streamableHttp'], {
    env: { ...process.env, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  t.after(() => child.kill('SIGKILL'))
  for await (const line of createInterface({ input: child.stderr })) if (line.includes('listening')) break
  child.stderr.resume()
  return `http://127.0.0.1:${port}/mcp`
}

export interface McpOrigin {
  readonly url: string
  /** The heads of all requests so far. */
  readonly heads: IncomingMessage['headers'][]
  /** The methods of HTTP of requests whose client left before the response had ended. */
  readonly cancelled: string[]
}

/** Starts a server of the revision without sessions, and of those with them, each of whose requests is on its own. */
export async function startMcpOrigin(t: TestContext, make: () => McpServer): Promise<McpOrigin> {
  const handler = createMcpHandler(make)
  const heads: IncomingMessage['headers'][] = []
  const cancelled: string[] = []
  const server = createServer(async (request, response) => {
    heads.push(request.headers)
    const { method = 'GET' } = request
    const abort = new AbortController()
    response.once('close', () => {
      if (response.writableFinished) return
      cancelled.push(method)
      abort.abort()
    })
    const answer = await handler.fetch(
      new Request(new URL(request.url!, 'http://localhost'), {
        method,
        headers: Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
        signal: abort.signal,
        ...(method === 'POST' && { body: Readable.toWeb(request) as ReadableStream, duplex: 'half' }),
      }),
    )
    response.writeHead(answer.status, Object.fromEntries(answer.headers))
    if (answer.body === null) return response.end()
    return Readable.fromWeb(answer.body as import('node:stream/web').ReadableStream)
      .on('error', () => response.destroy())
      .pipe(response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(async () => {
    server.close()
    server.closeAllConnections()
    await handler.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, heads, cancelled }
}
