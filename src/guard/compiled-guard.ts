// The guard of a gateway, compiled for its calls.

import type { Guard, GuardAction, GuardCheck, GuardRule, GuardWebhook } from '../store/records/records.ts'
import { everyPattern, patternNames, patternsNamed } from './patterns.ts'
import { PatternSet } from './scan.ts'

export class CompiledGuard {
  /** Null if it does not look there. */
  readonly request: CompiledCheck | null
  readonly response: CompiledCheck | null
  /** Null if it is not asked about them. */
  readonly requestWebhook: GuardWebhook | null
  readonly responseWebhook: GuardWebhook | null

  constructor({ rules, webhook = null }: Guard) {
    this.request = compile(rules, 'request')
    this.response = compile(rules, 'response')
    this.requestWebhook = webhook?.checks.includes('request') ? webhook : null
    this.responseWebhook = webhook?.checks.includes('response') ? webhook : null
  }

  get looksAtResponses(): boolean {
    return this.response !== null || this.responseWebhook !== null
  }

  /** Whether a response must be looked at before anything of it is sent or stored. */
  get holdsResponses(): boolean {
    return this.response?.isEnforced === true || this.responseWebhook !== null
  }

  /** Of a session, which cannot be looked at: the check that redacts or blocks, if there is one. */
  get strictest(): CompiledCheck | null {
    return this.request?.isEnforced !== true && this.response !== null ? this.response : this.request
  }
}

export class CompiledCheck {
  readonly check: GuardCheck
  readonly patterns: PatternSet
  /** Whether anything is ever redacted or blocked: if not, nothing has to wait. */
  readonly isEnforced: boolean
  readonly #actions: ReadonlyMap<string, GuardAction>

  constructor(check: GuardCheck, actions: ReadonlyMap<string, GuardAction>) {
    this.check = check
    this.patterns = new PatternSet(patternsNamed([...actions.keys()]))
    this.isEnforced = [...actions.values()].some(action => action !== 'flag')
    this.#actions = actions
  }

  /** The strictest of the rules that have the pattern. */
  actionOf(name: string): GuardAction {
    return this.#actions.get(name) ?? 'flag'
  }
}

const strictness: readonly GuardAction[] = ['flag', 'redact', 'block']

function compile(rules: readonly GuardRule[], check: GuardCheck): CompiledCheck | null {
  const actions = new Map<string, GuardAction>()
  for (const { isEnabled, checks, action, patterns } of rules) {
    if (!isEnabled || !checks.includes(check)) continue
    for (const name of patterns.includes(everyPattern) ? patternNames : patterns) {
      const other = actions.get(name) ?? 'flag'
      actions.set(name, strictness.indexOf(action) > strictness.indexOf(other) ? action : other)
    }
  }
  return actions.size === 0 ? null : new CompiledCheck(check, actions)
}

/** By the record: a changed gateway has another one. */
const guards = new WeakMap<Guard, CompiledGuard>()

/** Null if the guard is off. */
export function compiledGuard(guard: Guard): CompiledGuard | null {
  if (!guard.isEnabled) return null
  let compiled = guards.get(guard)
  if (compiled === undefined) guards.set(guard, (compiled = new CompiledGuard(guard)))
  return compiled
}
