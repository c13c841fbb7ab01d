// What attackers over HTTP/2 that connect again and again cost those who share their address, and the gateway: node bench/micro/http2/neighbours.ts, with ONLY (parts of names)
// and SHAPE (`sixty` unless it is said: sixty connections at a time, each of which is followed by another one).

import { percentile } from '../../load/statistics.ts'
import { line, measure, namesOf, run, startOurs, startScript } from './attack-trial.ts'
import { attacks, type Shape } from './attacker.ts'

const seconds = 12
const shape = (process.env.SHAPE ?? 'sixty') as Shape

await run(async origin => {
  const { h2c, stop } = await startOurs(origin, null)
  line(['attack', 'visitors', 'failed', 'p50 ms', 'p99 ms', 'slowest ms', 'CPU %', 'attackers/s'])
  let nth = 0
  for (const name of namesOf(attacks)) {
    const from = `127.0.3.${++nth}`
    const visitors = startScript('neighbour.ts', [], [from])
    const { times, cpu, counts } = await measure(h2c, visitors, seconds, {
      kind: 'client',
      port: h2c.port,
      name,
      shape,
      from,
    })
    visitors.kill('SIGKILL')
    const served = times.filter(time => time !== null)
    const texts = [percentile(served, 50), percentile(served, 99), Math.max(...served)].map(ms =>
      ms.toFixed(0),
    )
    const share = (cpu / 10_000 / seconds).toFixed(1)
    const rate = (counts.connections / seconds).toFixed(0)
    line([name, `${times.length}`, `${times.length - served.length}`, ...texts, share, rate])
  }
  await stop()
})
