// Reads the bodies of requests about budget alerts.

import type { Fault } from '../../errors/catalogue/refusal.ts'
import type { BudgetAlert } from '../../store/records/budget-alerts.ts'
import { Field } from '../http/field.ts'
import { webhookUrl } from '../http/webhook-url.ts'

/** Percent of a limit. */
export const maxThreshold = 100
export const maxThresholds = 10

export function readBudgetAlert(body: unknown): Pick<BudgetAlert, 'url' | 'thresholds'> | readonly Fault[] {
  const faults: Fault[] = []
  const { url, thresholds } = new Field(body, faults).members(['url', 'thresholds'])
  const items = thresholds.items(1, maxThresholds)
  const values = items.map(item => item.integer(1, maxThreshold) ?? 0)
  for (const [i, value] of values.entries())
    if (value !== 0 && values.indexOf(value) < i) items[i]!.refuse('duplicates an earlier item')
  const read = {
    url: url.by(webhookUrl) ?? '',
    thresholds: values.toSorted((a, b) => a - b),
  }
  return faults.length > 0 ? faults : read
}
