// A well-behaved origin for journeys: a server of Node, and a configuration that has one zone before it.

import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'

/** Serves with the listener until the test ends, and returns the URL. */
export async function startSite(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Writes a configuration whose one zone, for 127.0.0.1, is served by the origin; `more` adds settings. */
export function siteConfig(origin: string, more = ''): string {
  return `
pools: {site: {origins: ['${origin}']}}
zones: [{name: site, hosts: [127.0.0.1], routes: [{path: /, pool: site}]}]
${more}
`
}
