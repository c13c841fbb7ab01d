// Gatehouse with a zone and an AI gateway at once, for soak.ts.
import type { Door } from '../call.ts'
import { freePort } from '../../../test/help/free-port.ts'
import type { Peer } from '../peers.ts'
import { DENIED, DOWN } from '../soak-mix.ts'
import { gatehouseAi } from './gatehouse-ai.ts'

/** Makes the peer; its door is that of the native route. */
export function gatehouseOfAllKinds(): Peer {
  return gatehouseAi('native', 'gatehouse, all kinds', { zones: withZone })
}

/** Returns the door of its REST route. */
export function restDoorOf(printed: string): Door {
  return gatehouseAi('REST').door!(printed, 0)
}

async function withZone(origin: number): Promise<string> {
  return `access:
  rules:
    - deny: { path: ${DENIED} }
pools:
  origin: { origins: ['http://127.0.0.1:${origin}'] }
  down: { origins: ['http://127.0.0.1:${await freePort()}'] }
zones:
  - hosts: ['127.0.0.1']
    default: true
    routes:
      - { path: /, pool: origin }
      - { path: ${DOWN}, pool: down }
`
}
