// What attacks by origins over HTTP/2 cost others: node bench/micro/http2/origin-attacks.ts, with ROUNDS and ONLY (parts of names). Each attack is compared with none, and with as
// many connections and bytes of ordinary requests of HTTP/1.1.

import { once } from 'node:events'
import { originAttacks } from '../../../test/help/http2-origin-attacks.ts'
import { median, percentile } from '../../load/statistics.ts'
import { type Figures, line, measure, namesOf, rounds, run, startOurs, startScript } from './attack-trial.ts'
import type { Counts, Orders } from './attacker.ts'

const seconds = 2

type Kind = 'alone' | 'attacked' | 'plain'

await run(async origin => {
  const victim = startScript('victim.ts')
  console.log('p99 of others in ms, and µs of CPU for each connection of the attack, beyond what others cost')
  line(['', 'alone', 'attacked', 'ratio', 'plain', 'conn/s', 'KiB/conn', 'µs/conn', 'plain'])
  for (const name of namesOf(originAttacks)) {
    const bad = startScript('bad-origin.ts', ['nice', '-n', '19'], [name])
    const [badPort] = await once(bad, 'message')
    const { plain, stop } = await startOurs(origin, badPort)
    const found: Record<Kind, Figures[]> = { alone: [], attacked: [], plain: [] }
    for (let round = 0; round < rounds; round++) {
      found.alone.push(await measure(plain, victim, seconds, null))
      const attack = { kind: 'origin', port: plain.port, host: 'bad.example' } as const
      const attacked = await measure(plain, victim, seconds, attack)
      found.attacked.push(attacked)
      found.plain.push(await measure(plain, victim, seconds, flood(plain.port, attacked.counts)))
    }
    row(name, found)
    await stop()
    bad.kill('SIGKILL')
  }
})

/** As many connections and bytes a second as an attack had. */
function flood(port: number, { connections, bytes }: Counts): Orders {
  return { kind: 'plain', port, rate: connections / seconds, bytes: bytes / connections }
}

function row(name: string, found: Readonly<Record<Kind, Figures[]>>): void {
  const p99 = (of: Kind) => median(found[of].map(({ times }) => percentile(times, 99)))
  const cost = (of: Kind) =>
    median(found[of].map(({ cpu, counts }, i) => (cpu - found.alone[i]!.cpu) / counts.connections))
  const { connections, bytes } = sumOf(found.attacked.map(({ counts }) => counts))
  const values = [p99('alone'), p99('attacked'), p99('attacked') / p99('alone'), p99('plain')]
  line([
    name,
    ...values.map(value => value.toFixed(2)),
    (connections / rounds / seconds).toFixed(0),
    (bytes / connections / 1024).toFixed(1),
    ...[cost('attacked'), cost('plain')].map(us => us.toFixed(0)),
  ])
}

function sumOf(all: readonly Counts[]): Counts {
  const sum: Counts = { connections: 0, bytes: 0 }
  for (const { connections, bytes } of all) {
    sum.connections += connections
    sum.bytes += bytes
  }
  return sum
}
