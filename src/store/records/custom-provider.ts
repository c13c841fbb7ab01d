// A provider that an account has added: its callers name it as custom-SLUG.

export interface CustomProvider {
  readonly account: string
  /** The slug: 1 to 57 lower-case letters, digits and hyphens, unique within the account. */
  readonly id: string
  readonly name: string
  /** An https URL without credentials, query and fragment; it never changes, since keys are sealed for it. */
  readonly url: string
  readonly isEnabled: boolean
  /** Sent unless the caller sends the same field: name, value, … */
  readonly headers: readonly string[]
  /** What the published clients say about a provider, and only show again. */
  readonly notes: CustomProviderNotes
  readonly createdAt: number
  readonly modifiedAt: number
}

export interface CustomProviderNotes {
  readonly beta?: boolean
  readonly curl_example?: string
  readonly description?: string
  readonly js_example?: string
  readonly link?: string
  readonly position?: number
}
