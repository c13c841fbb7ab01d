// Single figures that no table of a mix has, each measured by a part of the bench of its own, for collect.ts.
import type { Peer } from '../load/peers.ts'
import type { Estimate } from '../load/results.ts'
import { measureBackToBack } from './back-to-back.ts'
import { measureFrontier } from './frontier.ts'
import { measureHeap } from './heap.ts'
import { measureIdleTls } from './idle-tls.ts'
import { measureNpmStart } from './npm-start.ts'

/** What they are: of `startMemory` MB, of the tails milliseconds, of heaps bytes a request, and of `idleTls` KiB. */
export type FigureName =
  | 'getTail'
  | 'chatTail'
  | 'frontier'
  | 'getHeap'
  | 'chatHeap'
  | 'idleTls'
  | 'startMemory'

export type Figures = { readonly [name in FigureName]?: Estimate }

export type Measure = (peers: ReadonlyMap<string, Peer>, origin: number, isQuick: boolean) => Promise<Figures>

/** How each part is measured, by its name; what it needs and is not installed is left out. */
export const FIGURES: ReadonlyMap<string, Measure> = new Map([
  ['back-to-back', measureBackToBack],
  ['frontier', measureFrontier],
  ['heap', measureHeap],
  ['idle', measureIdleTls],
  ['npm-start', measureNpmStart],
])
