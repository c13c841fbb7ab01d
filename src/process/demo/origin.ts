// The origin behind `gatehouse demo`: links to every misdeed, and a WebSocket that echoes.

import { once } from 'node:events'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { createServer } from '../../net/http/node-http.ts'
import { misdeeds } from './misdeeds.ts'
import { demoPolicy, demoPage } from './page.ts'
import { acceptEcho } from './websocket.ts'
import { selfSigned } from './self-signed.ts'

export class DemoOrigin {
  readonly #plain = createServer({ maxHeaderSize: 256 * 1024 }, answer).on('upgrade', acceptEcho)
  readonly #secure = createTlsServer(selfSigned('selfsigned.localhost'), answer)

  async listen(): Promise<Record<'DEMO_ORIGIN' | 'DEMO_TLS_ORIGIN' | 'DEMO_NOT_TLS_ORIGIN', string>> {
    const [plain, secure] = await Promise.all([portOf(this.#plain), portOf(this.#secure)])
    return {
      DEMO_ORIGIN: `http://127.0.0.1:${plain}`,
      DEMO_TLS_ORIGIN: `https://127.0.0.1:${secure}`,
      DEMO_NOT_TLS_ORIGIN: `https://127.0.0.1:${plain}`,
    }
  }

  close(): void {
    for (const server of [this.#plain, this.#secure]) {
      server.close()
      server.closeAllConnections()
    }
  }
}

async function portOf(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    await commitAt(urlOf(request), request, response)
  } catch {
    response.destroy()
  }
}

/** Two slashes at the start would otherwise name a host. */
function urlOf({ url }: IncomingMessage): URL {
  return new URL(`http://origin${url}`)
}

async function commitAt(url: URL, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname } = url
  const misdeed = misdeeds.find(
    ({ path }) => pathname === path || (path.endsWith('/') && pathname.startsWith(path)),
  )
  if (misdeed) await misdeed.commit(response, request, url)
  else if (pathname === '/') showFrontPage(request, response)
  else response.writeHead(404).end('The demo origin has no such page.\n')
}

function showFrontPage({ headers }: IncomingMessage, response: ServerResponse): void {
  const { port } = new URL(`http://${headers.host}`)
  response.setHeader('content-security-policy', demoPolicy)
  response.setHeader('content-type', 'text/html; charset=utf-8').end(demoPage(port))
}
