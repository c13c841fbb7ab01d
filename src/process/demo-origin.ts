// The small origin behind `gatehouse demo`: a front page that links to every misdeed, and a WebSocket that echoes.

import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { html } from '../base/html.ts'
import { misdeeds } from './demo-misdeeds.ts'
import { acceptEcho } from './demo-websocket.ts'
import { selfSigned } from './self-signed.ts'

/** What else there is to see: zones of config/demo.yaml whose origins cannot be had. */
const zones = [
  { host: 'down.localhost', expect: 'Nobody listens at the origin: error 521.' },
  { host: 'nodns.localhost', expect: 'The name of the origin does not resolve: error 1016.' },
  { host: 'selfsigned.localhost', expect: 'Nobody vouches for the certificate of the origin: error 526.' },
  { host: 'nottls.localhost', expect: 'The origin does not speak TLS: error 525.' },
  { host: 'paused.localhost', expect: 'The operator has paused the zone: error 1004.' },
  { host: 'unknown.localhost', expect: 'No zone has this name: error 1001.' },
]

export class DemoOrigin {
  readonly #plain = createServer({ maxHeaderSize: 256 * 1024 }, answer).on('upgrade', acceptEcho)
  readonly #secure = createTlsServer(selfSigned('selfsigned.localhost'), answer)

  /** Listens on free ports of loopback and returns the variables that config/demo.yaml asks for. */
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

/** Takes the target for a path even when it begins with two slashes, which else would name a host. */
function urlOf({ url }: IncomingMessage): URL {
  return new URL(`http://origin${url}`)
}

async function commitAt(url: URL, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname } = url
  const misdeed = misdeeds.find(
    ({ path }) => pathname === path || (path.endsWith('/') && pathname.startsWith(path)),
  )
  if (misdeed) await misdeed.commit(response, request, url)
  else if (pathname === '/')
    response.setHeader('content-type', 'text/html; charset=utf-8').end(frontPage(request))
  else response.writeHead(404).end('The demo origin has no such page.\n')
}

function frontPage({ headers }: IncomingMessage): string {
  const { port } = new URL(`http://${headers.host}`)
  const markup = html`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Gatehouse demo</title>
<style>
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif }
body { max-width: 46rem; margin: 2rem auto; padding: 0 1rem }
dd { margin: 0 0 .75rem }
</style>
<h1>An origin that misbehaves on demand</h1>
<p>You see this page through Gatehouse. Each link is one way to fail; ask for it with <code>curl</code> and
<code>Accept: application/json</code> or <code>text/markdown</code> to read the same in another format.</p>
<dl>
${misdeeds.map(({ example, expect }) => html`<dt><a href="${example}">${example}</a><dd>${expect}\n`)}
<dt>/ws<dd>A WebSocket that says back what it hears.
</dl>
<h2>Zones without a working origin</h2>
<dl>
${zones.map(({ host, expect }) => html`<dt><a href="http://${host}:${port}/">${host}</a><dd>${expect}\n`)}
</dl>
</html>
`
  return markup.toString()
}
