// What attacks by clients over HTTP/2 cost others, beside nginx: node bench/micro/http2/attacks.ts, with ROUNDS, ONLY (parts of names), SHAPE and SERVER. Each attack comes by one connection
// (once), by one after the other (again), and by a hundred at a time (hundred), each time from an address that was never seen before.

import type { ChildProcess } from 'node:child_process'
import { connect } from 'node:http2'
import { median, percentile } from '../../load/statistics.ts'
import {
  type Figures,
  line,
  measure,
  namesOf,
  rounds,
  run,
  type Server,
  startNginx,
  startOurs,
  startScript,
} from './attack-trial.ts'
import { type AttackName, attacks, type Shape } from './attacker.ts'
import { rate } from './victim.ts'

/** Seconds of one measurement. */
const seconds = { once: 2, again: 4, hundred: 7 } as const satisfies Partial<Record<Shape, number>>
const shapes = Object.keys(seconds) as (keyof typeof seconds)[]
const wanted = shapes.filter(shape => (process.env.SHAPE ?? shape) === shape)
const onlyServer = process.env.SERVER
/** Seconds in which an attack begins, when nothing is known of the attacker. */
const beginning = 0.3

interface Contestant {
  readonly name: string
  /** Where others connect. */
  readonly plain: Server
  /** The port for HTTP/2 without TLS. */
  readonly h2c: number
  readonly shapes: typeof shapes
}

/** How many have attacked. */
let addresses = 0

await run(async origin => {
  const nginx = await startNginx(
    'proxy',
    '0',
    port =>
      `listen 127.0.0.1:${port} http2; listen 127.0.0.1:${port + 1};
      location / { proxy_pass http://origin; proxy_http_version 1.1; proxy_set_header Connection ""; }`,
    `upstream origin { server 127.0.0.1:${origin}; keepalive 128; }`,
  )
  const { h2c, plain, stop } = await startOurs(origin, null)
  const all: readonly Contestant[] = [
    { name: 'gatehouse', plain, h2c: h2c.port, shapes },
    // nginx 1.22 tells by the port which version a client without TLS speaks.
    {
      name: 'nginx',
      plain: { ...nginx, port: nginx.port + 1 },
      h2c: nginx.port,
      // A hundred at a time have others wait there for half a minute, and the bench with them.
      shapes: ['once', 'again'],
    },
  ]
  const contestants = all.filter(({ name }) => (onlyServer ?? name) === name)
  const victim = startScript('victim.ts')
  for (const { plain, h2c } of contestants) {
    await measure(plain, victim, 2, null)
    await warm(h2c)
  }
  console.log('times of others in ms: the median, and the p99 of all and of what follows the first 0.3 s')
  line(['', '', 'alone p50', 'p99', 'attacked p50', 'p99', 'ratio', 'later p99', 'ratio', 'conn/s'])
  console.log('and of each round, p99 alone and attacked, and later')
  for (const name of namesOf(attacks))
    for (const shape of wanted) await compare(contestants, victim, name, shape)
  await stop()
})

/** Has a server serve requests over HTTP/2, as one in use has. */
async function warm(port: number): Promise<void> {
  const session = connect(`http://127.0.0.1:${port}`)
  const ask = () =>
    new Promise(resolve => {
      session.request({ ':authority': 'shop.example' }).resume().on('close', resolve)
    })
  for (let i = 0; i < 200; i++) await Promise.all(Array.from({ length: 20 }, ask))
  session.destroy()
}

async function compare(
  contestants: readonly Contestant[],
  victim: ChildProcess,
  name: AttackName,
  shape: keyof typeof seconds,
): Promise<void> {
  const alone = contestants.map((): Figures[] => [])
  const attacked = contestants.map((): Figures[] => [])
  for (let round = 0; round < rounds; round++)
    for (const [i, { plain, h2c, shapes }] of contestants.entries()) {
      if (!shapes.includes(shape)) continue
      alone[i]!.push(await measure(plain, victim, seconds[shape], null))
      const from = nextAddress()
      attacked[i]!.push(
        await measure(plain, victim, seconds[shape], { kind: 'client', port: h2c, name, shape, from }),
      )
    }
  for (const [i, contestant] of contestants.entries())
    if (contestant.shapes.includes(shape))
      row(`${name}: ${shape}`, contestant.name, alone[i]!, attacked[i]!, seconds[shape])
}

function row(attack: string, server: string, alone: Figures[], attacked: Figures[], duration: number): void {
  const of = (all: readonly Figures[], percent: number, from = 0) =>
    median(all.map(({ times }) => percentile(times.slice(from), percent)))
  const later = beginning * rate
  const connections = median(attacked.map(({ counts }) => counts.connections))
  const [p99, laterP99] = [of(attacked, 99), of(attacked, 99, later)]
  const values = [
    ...[of(alone, 50), of(alone, 99), of(attacked, 50)],
    ...[p99, p99 / of(alone, 99), laterP99, laterP99 / of(alone, 99, later)],
  ]
  line([attack, server, ...values.map(value => value.toFixed(2)), (connections / duration).toFixed(1)])
  const each = (from: number) =>
    alone
      .map((figures, i) => `${text(of([figures], 99, from))}>${text(of([attacked[i]!], 99, from))}`)
      .join(' ')
  if (alone.length > 1) console.log(`  ${each(0)} | ${each(later)}`)
}

function text(ms: number): string {
  return ms.toFixed(1)
}

/** Returns an address of loopback that has not attacked yet. */
function nextAddress(): string {
  addresses++
  return `127.0.${1 + (addresses >> 8)}.${addresses & 255}`
}
