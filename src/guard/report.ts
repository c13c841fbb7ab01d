// What the guard has found in a call so far: names and counts, never the text.

import type { GuardAction, GuardCheck, GuardFinding } from '../store/records/records.ts'

/** A webhook may find something of another name each time; further names are counted as one. */
const maxNames = 100
const furtherName = 'webhook'

export class GuardReport {
  readonly #counts = new Map<string, GuardFinding>()

  note(check: GuardCheck, name: string, action: GuardAction, count = 1): void {
    const key = `${check} ${name} ${action}`
    if (name !== furtherName && this.#counts.size >= maxNames && !this.#counts.has(key))
      return this.note(check, furtherName, action, count)
    const before = this.#counts.get(key)?.count ?? 0
    this.#counts.set(key, { check, name, action, count: before + count })
  }

  get findings(): readonly GuardFinding[] {
    return [...this.#counts.values()]
  }

  /** The strictest action; null if nothing was found. */
  get action(): GuardAction | null {
    const actions = this.findings.map(({ action }) => action)
    return order.find(action => actions.includes(action)) ?? null
  }

  /** The value of the response field. */
  get field(): string {
    const findings = this.findings.map(({ check, name, action, count }) => ({ check, name, action, count }))
    return JSON.stringify({ action: this.action, findings })
  }
}

const order: readonly GuardAction[] = ['block', 'redact', 'flag']
