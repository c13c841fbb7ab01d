// Who is not to notice an attack: requests at a steady rate, whether or not those before have got a response, for as long as each message to this process says.
import { Agent, request } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'

/** Requests a second. */
export const rate = 400
/** An address of its own, as attackers and others mostly have. */
const localAddress = '127.0.0.2'

const agent = new Agent({ keepAlive: true, maxSockets: 20 })

process.on('message', async ({ port, seconds }: { port: number; seconds: number }) => {
  process.send!(await times(port, seconds))
})

/** Returns the ms that each request took. */
async function times(port: number, seconds: number): Promise<number[]> {
  const sent: Promise<number>[] = []
  const began = performance.now()
  for (let n = 0; n < rate * seconds; n++) {
    const due = began + (n * 1000) / rate
    const early = due - performance.now()
    if (early > 0) await wait(early)
    sent.push(timeOf(port))
  }
  return Promise.all(sent)
}

function timeOf(port: number): Promise<number> {
  const began = performance.now()
  return new Promise((resolve, reject) => {
    const headers = { Host: 'shop.example' }
    const sent = request({ port, host: '127.0.0.1', localAddress, agent, headers }, response => {
      if (response.statusCode !== 200) reject(new Error(`port ${port}: ${response.statusCode}`))
      response.resume().on('end', () => resolve(performance.now() - began))
    })
    sent.on('error', reject).end()
  })
}
