// Members as the tests of balances see them, and counts of who was chosen.
import type { ChoiceRequest, Balance, Candidate } from '../../src/pools/candidate.ts'
import { hashOf } from '../../src/pools/rendezvous.ts'

export interface Named extends Candidate {
  readonly name: string
  weight: number
  share: number
  outstanding: number
}

export function named(name: string, weight = 1): Named {
  return { name, weight, share: 1, outstanding: 0, seed: hashOf(name) }
}

/** Describes a request of a client, with header fields as pairs. */
export function asking(clientAddress = '192.0.2.1', ...fields: string[]): ChoiceRequest {
  return { clientAddress, head: { fields } }
}

/** Lists the names of those chosen for so many requests, joined; `-` for none. */
export function chosen(balance: Balance, candidates: readonly Named[], times: number): string {
  const names: string[] = []
  for (let i = 0; i < times; i++) names.push(balance.choose(candidates, asking(), [])?.name ?? '-')
  return names.join('')
}
