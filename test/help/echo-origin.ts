// An origin that says in JSON what it was sent.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'

export async function startEcho(t: TestContext) {
  let count = 0
  const server = createServer((request, response) => {
    count++
    const { method, url, headers, rawHeaders } = request
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ method, url, headers, rawHeaders }))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get count() {
      return count
    },
  }
}
