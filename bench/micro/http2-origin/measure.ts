// Sends GETs by one client and prints, as JSON, µs of CPU a request, and the median and the 99th percentile of the latencies in ms.

import { connect, type Get } from './clients.ts'

const [client = '', port = '', path = '', concurrency = '', requests = ''] = process.argv.slice(2)
const get = await connect(client, Number(port))
await round(get, Math.min(2_000, Number(requests)))
const before = process.cpuUsage()
const latencies = await round(get, Number(requests))
const { user, system } = process.cpuUsage(before)
latencies.sort((a, b) => a - b)
const at = (share: number) => latencies[Math.floor(latencies.length * share)]!
console.log(JSON.stringify([(user + system) / Number(requests), at(0.5), at(0.99)]))
process.exit()

function round(send: Get, most: number): Promise<number[]> {
  const { promise, resolve } = Promise.withResolvers<number[]>()
  const times: number[] = []
  let begun = 0
  const one = () => {
    if (begun++ >= most) return
    const from = performance.now()
    send(path, () => {
      if (times.push(performance.now() - from) === most) resolve(times)
      else one()
    })
  }
  for (let i = 0; i < Number(concurrency); i++) one()
  return promise
}
