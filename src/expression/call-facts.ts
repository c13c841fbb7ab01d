// The facts that conditions about AI calls may read, as our code and the language see them.

/** Null stands for what a call does not have, and what cannot be known of it. */
export interface CallFacts {
  readonly user: string | null
  /** In lower case. */
  readonly email: string | null
  readonly app: string | null
  readonly token: string | null
  readonly gateway: string
  readonly provider: string
  /** As its provider names it. */
  readonly model: string | null
  readonly metadata: Readonly<Record<string, string | number | boolean | null>> | null
}

/** Identities and metadata are maps, so that a missing one is a missing key, as always in CEL. */
export const callVariables = {
  user: 'map<string, string>',
  app: 'map<string, string>',
  token: 'map<string, string>',
  gateway: 'string',
  provider: 'string',
  model: 'string',
  metadata: 'map<string, dyn>',
} as const satisfies Partial<Record<keyof CallFacts, string>>

export class CallVariables implements Record<keyof typeof callVariables, unknown> {
  readonly #facts: CallFacts

  constructor(facts: CallFacts) {
    this.#facts = facts
  }

  get user(): ReadonlyMap<string, string> {
    const { user, email } = this.#facts
    return mapOf({ id: user, email })
  }

  get app(): ReadonlyMap<string, string> {
    return mapOf({ id: this.#facts.app })
  }

  get token(): ReadonlyMap<string, string> {
    return mapOf({ id: this.#facts.token })
  }

  get gateway(): string {
    return this.#facts.gateway
  }

  get provider(): string {
    return this.#facts.provider
  }

  /** Throws if it is unknown, so that whatever depends on it fails. */
  get model(): string {
    const { model } = this.#facts
    if (model === null) throw unknownModel
    return model
  }

  get metadata(): ReadonlyMap<string, unknown> {
    return new Map(Object.entries(this.#facts.metadata ?? {}))
  }
}

function mapOf(values: Readonly<Record<string, string | null>>): ReadonlyMap<string, string> {
  const map = new Map<string, string>()
  for (const [name, value] of Object.entries(values)) if (value !== null) map.set(name, value)
  return map
}

/** Shared: its stack would be most of its cost. */
const unknownModel = new Error('the model is unknown')
