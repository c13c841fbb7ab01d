// http-proxy-3 as a contestant of the bench, run as `http-proxy-3.ts PORT ORIGIN_PORT`.
import { Agent, createServer, ServerResponse } from 'node:http'
import { createProxyServer } from 'http-proxy-3'

const [port, origin] = process.argv.slice(2).map(Number)

const proxy = createProxyServer({
  target: `http://127.0.0.1:${origin}`,
  agent: new Agent({ keepAlive: true }),
  xfwd: true,
  headers: { via: '1.1 http-proxy-3' },
})
proxy.on('error', (_error, _request, response) => {
  if (response instanceof ServerResponse && !response.headersSent) response.writeHead(502).end('Bad Gateway')
  else response.destroy()
})

createServer((request, response) => proxy.web(request, response)).listen(port, '127.0.0.1')
