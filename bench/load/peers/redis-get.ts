// The floor of a read by HTTP, run as `redis-get.ts PORT REDIS_URL`: node:http and one GET of Redis, and nothing of what an API is.
import { createServer } from 'node:http'
import { Redis } from 'ioredis'

const [port, url] = process.argv.slice(2)
const KEY = 'bench:record'
const RECORD = JSON.stringify({ text: 'x'.repeat(1000) })

const redis = new Redis(url!)
await redis.set(KEY, RECORD)

createServer(async (_, response) => {
  const record = (await redis.get(KEY))!
  response.writeHead(200, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(record),
  })
  response.end(record)
}).listen(Number(port), '127.0.0.1')
