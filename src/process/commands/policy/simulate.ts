// `gatehouse policy simulate`: what policies would decide about a call that is not made.

import { columns } from '../../terminal/format.ts'
import { complain, printResult } from '../../terminal/output.ts'
import { bodyIn } from '../client/changes.ts'
import type { Input } from '../input.ts'
import { withPolicies } from './policies.ts'

/** The exit code is 2 if nothing was decided. */
export async function simulate(input: Input): Promise<number> {
  if (input.file === undefined) return complain('name a file with the call: --file PATH')
  const body = bodyIn(input.file, {})
  if ('flaw' in body) return complain(body.flaw)
  const call = input.committed ? { ...(body.value as object), state: 'committed' } : body.value
  let decision: Simulated['decision'] | null = null
  await withPolicies(input, async (api, path) => {
    const { result } = await api.ask<Simulated>('POST', `${path}/simulate`, { body: call })
    decision = result.decision
    return printResult(input, result, simulationText(result))
  })
  return decision === null ? 2 : decision === 'allow' ? 0 : 1
}

interface NamedPolicy {
  readonly id: string
  readonly name: string
}

interface Simulated {
  readonly decision: 'allow' | 'block' | 'no_match'
  readonly policy: NamedPolicy | null
  readonly limits: readonly {
    readonly policy: NamedPolicy
    readonly identity: string | null
    readonly amount: number
    readonly spent: number
    readonly remaining: number
    readonly resets_at: string | null
  }[]
  readonly trace: readonly (NamedPolicy & {
    readonly applies: boolean
    readonly decided_by: string | null
    readonly unknown: boolean
  })[]
}

function simulationText({ decision, policy, limits, trace }: Simulated): string {
  const parts = [
    columns([[sentenceOf(decision, policy)]]),
    trace.length === 0 ? '' : columns([['POLICY', 'APPLIES', 'WHY'], ...trace.map(traceRow)]),
    limits.length === 0 ? '' : columns([limitHead, ...limits.map(limitRow)]),
  ]
  return parts.filter(part => part !== '').join('\n')
}

function sentenceOf(decision: Simulated['decision'], policy: NamedPolicy | null): string {
  if (decision === 'no_match') return 'The call would be refused: no policy allows it.'
  if (policy === null) return 'The call would be allowed: there are no policies.'
  return decision === 'block'
    ? `The call would be refused: ${policy.name} blocks it.`
    : `The call would be allowed by ${policy.name}.`
}

function traceRow({ name, applies, decided_by: part, unknown }: Simulated['trace'][number]): string[] {
  const why = part === null ? 'all of it matches' : `its ${part} ${unknown ? 'is unknown' : 'does not match'}`
  return [name, applies ? 'yes' : 'no', why]
}

const limitHead = ['LIMIT', 'IDENTITY', 'SPENT', 'LEFT', 'RESETS AT']

function limitRow({ policy, identity, amount, spent, remaining, resets_at }: Simulated['limits'][number]) {
  return [policy.name, identity ?? 'all', `$${spent} of $${amount}`, `$${remaining}`, resets_at ?? '-']
}
