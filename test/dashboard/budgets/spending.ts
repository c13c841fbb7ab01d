// Spends of the budgets of the default gateway and of a token, as a process would.

import { bucketsOf, type CallFacts } from '../../../src/budgets/buckets.ts'
import type { Token } from '../../../src/store/records/records.ts'
import type { openDashboard } from '../site.ts'

type Site = Pick<Awaited<ReturnType<typeof openDashboard>>, 'kept' | 'account' | 'clock'>

/** Reports in the unit of each rule what a new process has spent and reserved of each budget in which such a call counts. */
export async function spendOf(
  { kept, account, clock }: Site,
  token: Token | null,
  { spent, reserved }: { readonly spent: number; readonly reserved: number },
  call: CallFacts = { provider: 'openai', model: 'gpt-4o', metadata: null },
): Promise<void> {
  const { record: gateway } = (await kept.gateways.get(account, 'default'))!
  const lines = bucketsOf(gateway, token, call, clock.now()).map(({ bucket, window, rule }) => ({
    ...{ bucket, window, limit: rule.limit, share: `share ${shares++}` },
    ...{ total: spent, confirmed: 0, keep: reserved, ifLost: 0, need: 0, want: 0 },
  }))
  await kept.budgets.step({ account, sequence: 1, lease: 15_000, lines })
}

let shares = 0
