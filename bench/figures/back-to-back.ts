// The p99 of one connection that sends its next request as soon as it has a response, so that no pause of the server passes unseen.
import { startRunner } from '../interleaved/runners.ts'
import { drive } from '../load/drive.ts'
import { type MixName, NATIVE } from '../load/mixes.ts'
import type { Peer } from '../load/peers.ts'
import { alternate } from '../load/statistics.ts'
import { compareTails } from '../profile/tails.ts'
import type { Measure } from './figures.ts'

const rounds = 5
const quickRounds = 3

/** Compares Gatehouse with nginx, by the milliseconds between their percentiles. wrk counts the requests that a pause delayed, too. */
export const measureBackToBack: Measure = async (peers, origin, isQuick) => {
  const nginx = peers.get('nginx')
  const against = async (name: string, mix: MixName) => {
    const own = peers.get(name)
    return own && nginx && compareIn(mix, [own, nginx], origin, isQuick)
  }
  const [getTail, chatTail] = [await against('gatehouse', 'get'), await against(NATIVE, 'chat')]
  return { ...(getTail && { getTail }), ...(chatTail && { chatTail }) }
}

async function compareIn(mix: MixName, pair: readonly [Peer, Peer], origin: number, isQuick: boolean) {
  const runners = [await startRunner(pair[0], mix, origin), await startRunner(pair[1], mix, origin)]
  const tails = new Map<string, number[][]>(runners.map(({ name }) => [name, []]))
  try {
    for (let round = 0; round < (isQuick ? quickRounds : rounds); round++)
      for (const { name, process, call } of alternate(runners, round)) {
        const load = { port: process.port, mix, call, connections: 1, seconds: isQuick ? 1 : 2 }
        const { p99 } = await drive(load)
        console.error(`${mix} back to back, ${name}: p99 ${p99} ms`)
        tails.get(name)!.push([p99])
      }
  } finally {
    for (const runner of runners) await runner.stop()
  }
  const [own, nginx] = pair.map(({ name }) => tails.get(name)!)
  return compareTails(own!, nginx!, 50)
}
