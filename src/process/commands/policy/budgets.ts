// `gatehouse policy budgets`: what is spent of the limits of policies.

import { columns } from '../../terminal/format.ts'
import { printResult } from '../../terminal/output.ts'
import type { Input } from '../input.ts'
import { withPolicies } from './policies.ts'

export function budgets(input: Input): Promise<number> {
  return withPolicies(input, async (api, path) => {
    const { result } = await api.ask<readonly PolicyBudgets[]>('GET', `${path}/budgets`)
    return printResult(input, result, columns([head, ...result.flatMap(rowsOf)]))
  })
}

interface PolicyBudgets {
  /** Null for the calls that no policy allows. */
  readonly policy: { readonly id: string; readonly name: string } | null
  readonly refused_last_day: number
  readonly budgets: readonly {
    readonly identity: string | null
    readonly name: string | null
    readonly amount: number
    readonly spent: number
    readonly remaining: number
    readonly resets_at: string | null
  }[]
}

const head = ['POLICY', 'IDENTITY', 'SPENT', 'LEFT', 'STARTS OVER', 'REFUSED']

function rowsOf({ policy, refused_last_day: refused, budgets: all }: PolicyBudgets): readonly string[][] {
  const name = policy?.name ?? '(no policy allows it)'
  if (all.length === 0) return [[name, '-', '-', '-', '-', `${refused}`]]
  return all.map(({ identity, name: known, amount, spent, remaining, resets_at }, i) => [
    i === 0 ? name : '',
    known ?? identity ?? 'all',
    `$${spent} of $${amount}`,
    `$${remaining}`,
    resets_at ?? '-',
    i === 0 ? `${refused}` : '',
  ])
}
