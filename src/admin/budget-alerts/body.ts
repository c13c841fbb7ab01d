// Reads the bodies of requests about budget alerts.

import type { Fault } from '../../errors/catalogue/refusal.ts'
import type { BudgetAlert } from '../../store/records/budget-alerts.ts'
import { Field } from '../http/field.ts'

export const maxUrlLength = 2_048
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
    url: url.by(text => webhookUrl(text)) ?? '',
    thresholds: values.toSorted((a, b) => a - b),
  }
  return faults.length > 0 ? faults : read
}

/** Reads an absolute https URL, and writes it as URL parsers do. */
export function webhookUrl(text: string): { readonly value: string } | { readonly flaw: string } {
  const url = text.length <= maxUrlLength && /^https:\/\/[!-~]+$/.test(text) ? URL.parse(text) : null
  if (url === null || url.hash !== '' || url.href.length > maxUrlLength)
    return {
      flaw: `must be an https URL without a fragment, of at most ${maxUrlLength} visible ASCII characters`,
    }
  if (url.username !== '' || url.password !== '') return { flaw: 'must not contain a user or a password' }
  return { value: url.href }
}
