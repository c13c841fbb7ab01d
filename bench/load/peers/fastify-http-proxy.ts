// @fastify/http-proxy as a contestant of the bench, run as `fastify-http-proxy.ts PORT ORIGIN_PORT`.
import proxy from '@fastify/http-proxy'
import fastify from 'fastify'

const [port, origin] = process.argv.slice(2).map(Number)

const app = fastify({ bodyLimit: 2 ** 24 })
await app.register(proxy, {
  upstream: `http://127.0.0.1:${origin}`,
  undici: { connections: 1024 },
  replyOptions: {
    rewriteRequestHeaders: (request, headers) => ({
      ...headers,
      'x-forwarded-for': request.ip,
      'x-forwarded-proto': request.protocol,
      'x-forwarded-host': request.host,
      via: '1.1 fastify',
    }),
  },
})
await app.listen({ port: port ?? 0, host: '127.0.0.1' })
