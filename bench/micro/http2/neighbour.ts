// Visitors of an attacker's address: a new connection over HTTP/2 with one request, at a steady rate, for as long as each message to this process says: node neighbour.ts ADDRESS
import { connect as connectSession } from 'node:http2'
import { connect } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'

/** Visitors a second. */
const rate = 10
/** Ms after which one gives up. */
const patience = 10_000

const [localAddress = '127.0.0.1'] = process.argv.slice(2)

process.on('message', async ({ port, seconds }: { port: number; seconds: number }) => {
  const visits: Promise<number | null>[] = []
  for (let n = 0; n < rate * seconds; n++) {
    visits.push(visit(port))
    await wait(1000 / rate)
  }
  process.send!(await Promise.all(visits))
})

/** Returns the ms that a visit took, null for one that failed. */
function visit(port: number): Promise<number | null> {
  const began = performance.now()
  const { promise, resolve } = Promise.withResolvers<number | null>()
  const createConnection = () => connect({ host: '127.0.0.1', port, localAddress })
  const session = connectSession('http://shop.example', { createConnection })
  const end = (time: number | null) => {
    resolve(time)
    session.destroy()
  }
  session.on('error', () => end(null)).on('close', () => resolve(null))
  session.setTimeout(patience, () => end(null))
  session
    .request()
    .on('error', () => end(null))
    .on('response', headers => end(headers[':status'] === 200 ? performance.now() - began : null))
    .resume()
  return promise
}
