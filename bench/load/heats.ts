// Who runs beside whom: all that a target compares must be in one heat.
import { availableParallelism } from 'node:os'
import { type MixName, MIXES, NATIVE, NATIVE_IN_REDIS, OAUTH, PASSING } from './mixes.ts'
import type { Subject } from './results.ts'
import { targetsFor } from './targets.ts'

/** A peer under a mix. */
export type Contestant = Pick<Subject, 'peer' | 'mix'>

export interface Heat {
  readonly name: string
  readonly contestants: readonly Contestant[]
}

const own = (mix: MixName): Contestant => ({ peer: 'gatehouse', mix })
const all = (mix: MixName): Contestant[] => MIXES[mix].peers.map(peer => ({ peer, mix }))

/** Every heat, in the order of the reports. */
export const HEATS: readonly Heat[] = [
  ...(['get', 'log', 'post', 'upload', 'download', 'tls', 'h2', 'streams', 'full', 'resumed'] as const).map(
    alone,
  ),
  { name: 'down', contestants: [own('get'), ...all('down')] },
  {
    name: 'rules',
    contestants: all('rules').filter(({ peer }) => peer !== PASSING.oneRule && peer !== PASSING.list),
  },
  { name: 'refused', contestants: [own('rules'), ...all('refused')] },
  alone('chat'),
  alone('eight'),
  alone('alias'),
  {
    name: 'unknown',
    contestants: [
      own('get'),
      own('chat'),
      ...[NATIVE, NATIVE_IN_REDIS, OAUTH].map(peer => ({ peer, mix: 'unknown' }) as const),
      { peer: NATIVE, mix: 'missing' },
    ],
  },
  alone('ttft'),
  alone('client'),
  alone('workers'),
]

/** Returns the share of a heat of the time that is left for it and for those that follow. */
export function shareOf({ contestants }: Heat, following: readonly Heat[]): number {
  const others = following.reduce((sum, heat) => sum + heat.contestants.length, 0)
  return contestants.length / (contestants.length + others)
}

/** Returns the pairs of a heat that a target compares. */
export function pairsOf({ contestants }: Heat): [subject: Subject, base: Subject][] {
  const isThere = (subject: Subject) =>
    contestants.some(({ peer, mix }) => peer === subject.peer && mix === subject.mix)
  return targetsFor(availableParallelism()).flatMap(({ compared }) =>
    compared?.every(isThere) ? [[compared[0], compared[1]]] : [],
  )
}

function alone(mix: MixName): Heat {
  return { name: mix, contestants: all(mix) }
}
